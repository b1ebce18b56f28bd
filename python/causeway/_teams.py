"""Teams: ordered sets of PEs, for collectives and for numbering."""
from contextlib import suppress
from typing import Any, Optional, Tuple

from ._machine import native
from ._world import broadcast_object, gather_objects, group_rank_and_size, require_initialized


class Team:
    """A team that this PE is a member of. Collectives of a team are called by all of its members, in the same order."""

    def __init__(self, number: int) -> None:
        self.number = number  # nvshmem_team_t

    def __repr__(self) -> str:
        return f"Team({self.number})"

    @property
    def my_pe(self) -> int:
        """This PE's number in the team."""
        return native.team_my_pe(self._valid())

    @property
    def n_pes(self) -> int:
        """How many members there are."""
        return native.team_n_pes(self._valid())

    def translate(self, pe: int, to: "Team") -> int:
        """The number in team `to` of this team's member `pe`; -1 if it is no member there. Not collective."""
        if not isinstance(pe, int) or not 0 <= pe < self.n_pes:
            raise ValueError(f"pe is {pe!r}: must be a member's number in the team, 0 to {self.n_pes - 1}")
        if not isinstance(to, Team):
            raise ValueError(f"to is a {type(to).__name__}: must be a causeway.Team")
        return native.team_translate_pe(self._valid(), pe, to._valid())

    def split_strided(self, start: int, stride: int, size: int) -> Optional["Team"]:
        """The team of this team's members start, start + stride, ... (`size` of them). Called by all members of this
        team with the same arguments; those who are not in the new team get None. ValueError on all of them for bad
        arguments."""
        parent = self._valid()
        try:
            made = native.team_split_strided(parent, start, stride, size)
        except TypeError:  # before the call: takes part with a size that no team has
            with suppress(ValueError):
                native.team_split_strided(parent, 0, 1, -1)
            raise ValueError(f"start, stride and size are {start!r}, {stride!r}, {size!r}: must be integers") from None
        return Team(made) if made >= 0 else None

    def split_2d(self, xrange: int) -> Tuple["Team", "Team"]:
        """Lays the members out in rows of `xrange`: the teams of this PE's row and of its column. Called by all
        members."""
        parent = self._valid()
        try:
            x, y = native.team_split_2d(parent, xrange)
        except TypeError:
            with suppress(ValueError):
                native.team_split_2d(parent, -1)
            raise ValueError(f"xrange is {xrange!r}: must be an integer") from None
        return Team(x), Team(y)

    def destroy(self) -> None:
        """Gives the team back: called by all members. The teams `world` and `node` stay."""
        if self.number <= native.TEAM_SAME_MYPE_NODE:
            raise ValueError(f"{self!r} is predefined: must be a team that was made by a split")
        native.team_destroy(self._valid())
        self.number = -1

    def _valid(self) -> int:
        require_initialized("a call of a team")
        if self.number < 0:
            raise ValueError("team has been destroyed: must be one that exists")
        return self.number


world = Team(native.TEAM_WORLD)  # all PEs
node = Team(native.TEAM_NODE)  # the PEs of this PE's node


def number_of(team: Optional[Team]) -> int:
    """The number of a team; None is the world."""
    if team is None:
        team = world
    if not isinstance(team, Team):
        raise ValueError(f"team is a {type(team).__name__}: must be a causeway.Team or None, the world")
    return team._valid()


def team_of_group(group: Any) -> Tuple[Team, bool]:
    """The team whose members are the ranks of a process group, and whether it was made by this call. Collective over
    the group, within a world that has been initialised."""
    rank, size = group_rank_and_size(group)
    # Decided by all ranks' numbers, so that all decide the same.
    if gather_objects(group, world.my_pe) == list(range(world.n_pes)):
        return world, False
    return Team(native.team_make(broadcast_object(group, native.team_unique_id), size, rank)), True
