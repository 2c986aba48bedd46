# SPDX-License-Identifier: Apache-2.0
"""Launchers that start this rank alone.

torchrun, `python -m torch.distributed.run` and `accelerate launch` end in launch_agent, with the
worker's command: this process becomes that worker, as deepspeed does.
torch.multiprocessing.spawn calls the function here, for the chosen index.
"""
import os
import sys

from vramscope_values import hide, imports, notes

from . import per_node, rank, world


def start():
    imports.after("torch.distributed.launcher.api", _replace_agent)
    imports.after("torch.multiprocessing.spawn", _replace_spawn)
    imports.after("deepspeed.launcher.runner", _replace_deepspeed)


def _replace_agent(api):
    @hide.replace(api, "launch_agent")
    def launch_agent(_start, config, entrypoint, args, *others, **options):
        os.environ.update({
            "ROLE_RANK": str(rank), "ROLE_WORLD_SIZE": str(world),
            "ROLE_NAME": getattr(config, "role", "") or "default",
            "TORCHELASTIC_RUN_ID": getattr(config, "run_id", "") or "none",
            "TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_USE_AGENT_STORE": "True",
            "TORCHELASTIC_MAX_RESTARTS": str(getattr(config, "max_restarts", 0))})
        if getattr(config, "nproc_per_node", per_node) != per_node:
            notes.once("unanswered", "torchrun", f"{config.nproc_per_node} processes run on each node, but "
                       f"{per_node} were taken: give --per-node {config.nproc_per_node}")
        os.environ.setdefault("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1")
        if callable(entrypoint):
            return {rank: entrypoint(*args)}
        os.execvp(entrypoint, [entrypoint, *args])


def _replace_spawn(module):
    import torch.multiprocessing

    class _Finished:
        """In place of the context of started processes: there are none."""
        processes = ()

        def join(self, *args, **kwargs):
            return True

        def pids(self):
            return []

    @hide.hidden
    def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
        index = rank if nprocs == world else rank % per_node
        if index >= nprocs:
            notes.once("unanswered", "torch.multiprocessing.spawn",
                       f"{nprocs} processes are started, none of them rank {rank}")
            index = nprocs - 1
        fn(index, *args)
        return None if join else _Finished()

    for place in (module, torch.multiprocessing):
        place.spawn = place.start_processes = start_processes


def _replace_deepspeed(runner):
    def main(args=None):
        args = runner.parse_args(args)
        command = [] if args.no_python else [sys.executable, "-u", *(["-m"] if args.module else [])]
        command += [args.user_script, *([] if args.no_local_rank else [f"--local_rank={rank % per_node}"])]
        os.execvp(command[0], [*command, *args.user_args])

    runner.main = main
