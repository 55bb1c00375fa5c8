"""A schedule follows from its seed alone, and hurts everything in every way."""

from __future__ import annotations

from itertools import islice

from tests.drill.schedule import LINK_FAULTS, PROCESS_FAULTS, Hurt, Step, Targets, only, schedule

TARGETS = Targets(
    processes=["postgres", "nats-0", "nats-1", "wallet", "roulette-0", "gateway-0"],
    links=["gateways–roulette-0", "roulette-0–wallet", "everything–nats"],
    disks=["postgres", "nats-0"],
)
LONGEST_S = 4.0


def steps(seed: int, count: int = 64, targets: Targets = TARGETS) -> list[Step]:
    return list(islice(schedule(seed, targets, LONGEST_S), count))


def test_a_seed_repeats_its_schedule_and_another_has_another() -> None:
    assert steps(7) == steps(7)
    assert steps(7) != steps(8)


def test_one_round_of_steps_hurts_in_every_way() -> None:
    hurt = {fault.how for step in steps(3, 16) for fault in step.faults}
    assert hurt == set(Hurt)


def test_everything_is_hurt_alone_and_in_pairs() -> None:
    alone = {step.faults[0].target for step in steps(5, 200) if len(step.faults) == 1}
    paired = {fault.target for step in steps(5, 200) if len(step.faults) == 2 for fault in step.faults}
    everything = {*TARGETS.processes, *TARGETS.links}
    assert alone == paired == everything


def test_a_pair_hurts_two_things() -> None:
    pairs = [step for step in steps(9, 200) if len(step.faults) == 2]
    assert pairs
    assert all(len({fault.target for fault in step.faults}) == 2 for step in pairs)


def test_no_fault_is_longer_than_asked_and_each_fits_its_target() -> None:
    for step in steps(11, 200):
        for fault in step.faults:
            assert 0 < fault.seconds <= LONGEST_S
            assert (fault.how in PROCESS_FAULTS) <= (fault.target in TARGETS.processes)
            assert (fault.how in LINK_FAULTS) == (fault.target in TARGETS.links)
            assert (fault.how is Hurt.FULL_DISK) <= (fault.target in TARGETS.disks)


def test_only_the_steps_that_were_asked_for() -> None:
    asked = list(islice(only(schedule(7, TARGETS, LONGEST_S), "SIGKILL wallet"), 3))
    assert len(asked) == 3
    assert all("SIGKILL wallet" in str(step) for step in asked)
    assert asked[0] in steps(7, asked[0].number)
    assert not list(only(schedule(7, TARGETS, LONGEST_S), "no such thing"))


def test_without_disks_none_is_filled() -> None:
    targets = Targets(TARGETS.processes, TARGETS.links, [])
    assert all(fault.how is not Hurt.FULL_DISK for step in steps(1, 64, targets) for fault in step.faults)
