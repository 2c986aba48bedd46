#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/ci: the commands of its README in a copy of the project, and the files for CI systems.

    check_ci_example.py SOURCE BUILD readme | workflows | torch

Skipped (77) without pytest, a parser of YAML, or PyTorch.
"""
import http.server
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import pytest_environment

FAILING = {"vramscope check train.vst --budget vramscope.toml": 1}


def skip(text):
    print("skipped:", text)
    sys.exit(pytest_environment.SKIPPED)


def commands(readme):
    """The command lines of the README with the lines that it shows below each."""
    found = []
    for block in re.findall(r"(?ms)^```console\n(.*?)^```", readme):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def environment(source, build, scratch, python):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("VRAMSCOPE_", "PYTEST_"))
           and k not in ("LD_PRELOAD", "PYTHONPATH", "CI", "MAKEFLAGS")}
    tools = scratch / "tools"
    tools.mkdir()
    # the plugin of the tree, without an installed package that names it
    (tools / "pytest").write_text(f'#!/bin/sh\nexec "{python}" -m pytest -p vramscope.pytest_plugin "$@"\n',
                                  encoding="utf-8")
    (tools / "pytest").chmod(0o755)
    env.update(PYTHONPATH=f"{source / 'python'}", PATH=f"{tools}:{build / 'bin'}:{env['PATH']}",
               PYTHONDONTWRITEBYTECODE="1")
    return env


def copy_of(source, scratch):
    project = scratch / "project"
    shutil.copytree(source / "examples/ci", project,
                    ignore=shutil.ignore_patterns("train", "*.so", "*.vst*", ".vramscope", "__pycache__"))
    return project


def readme(source, build, scratch, env, project):
    failed = False
    for command, shown in commands((project / "README.md").read_text(encoding="utf-8")):
        if command.startswith("pip "):
            continue
        done = subprocess.run(command, shell=True, env=env, cwd=project, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=600)
        expected = FAILING.get(command, 1 if "pytest" in command and failed and shown else 0)
        if "update-baseline" in command:
            expected = 0
        assert done.returncode == expected, (command, done.returncode, done.stdout)
        failed = failed or done.returncode != 0
        for line in shown:
            assert line in done.stdout, (command, line, done.stdout)
    without_memory(project, env)
    text = (project / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([\w./-]+\.(?:yml|py|toml|json|ini|c))`", text):
        assert name == ".gitlab-ci.yml" or (project / name).exists(), name
    assert failed


def without_memory(project, env):
    """Without a driver, and without memory, the program says so and ends with status 1."""
    bare = dict(env, LD_LIBRARY_PATH=str(project / "none"))
    simulated = ["vramscope", "run", "-q", "--simulate", "h100-80g", "-o", "none.vst", "--limit", "40MiB", "--", "./train"]
    for words, error in ((["./train"], "-1: there is no CUDA driver"), (simulated, "2: out of memory")):
        done = subprocess.run(words, env=bare, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=600)
        if words == ["./train"] and done.returncode == 0:
            continue  # this machine has a GPU
        assert done.returncode == 1 and f"train: CUDA error {error}\n" in done.stderr, (words, done)


def workflows(source, build, scratch, env, project):
    files = {"github/gpu-memory.yml": ("vendor.github-workflows",),
             "gitlab/gpu-memory.gitlab-ci.yml": ("vendor.gitlab-ci", "--data-transform", "gitlab-ci")}
    pythons = [p for p in pytest_environment.find().values() if subprocess.run(
        [p, "-c", "import check_jsonschema"], stderr=subprocess.DEVNULL).returncode == 0]
    if not pythons:
        skip("check-jsonschema is not installed; tests/plugin/pytest_environment.py fetch installs it")
    for name, (schema, *options) in files.items():
        words = [pythons[-1], "-m", "check_jsonschema", "--builtin-schema", schema, *options]
        assert subprocess.run([*words, project / name]).returncode == 0, name
        text = (project / name).read_text(encoding="utf-8")
        wrong = scratch / "wrong.yml"  # the validator sees a mistake
        wrong.write_text(re.sub(r"(?m)^( *)(runs-on|extends): .*", r"\1\2: 5", text), encoding="utf-8")
        assert subprocess.run([*words, wrong], stdout=subprocess.DEVNULL).returncode == 1, name
        for word in ("train.vst", "vramscope.toml", "tests-memory.json"):
            assert word in text and (word == "train.vst" or (project / word).exists()), (name, word)
    words = [pythons[-1], "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions"]
    assert subprocess.run([*words, project / "github/action/action.yml"]).returncode == 0
    component = project / "component.yml"  # its second document, with the default inputs
    text = (project / "gitlab/component.yml").read_text(encoding="utf-8").split("\n---\n")[1]
    component.write_text(re.sub(r"\$\[\[.*?\]\]", "x", text), encoding="utf-8")
    assert subprocess.run([*words[:-1], "vendor.gitlab-ci", "--data-transform", "gitlab-ci", component]).returncode == 0
    shell_of_the_jobs(project, files, env, pythons[-1])
    wheel_of_each_commit(project, env, pythons[-1])
    comments(project, env, pythons[-1])


READER = "import sys, json, ruamel.yaml as y; print(json.dumps(y.YAML(typ='safe').load(open(sys.argv[1]))))"


def jobs_of(content):
    """The command lines of the job of the simulated GPU, and of that with a GPU."""
    if "jobs" in content:
        return [[step["run"] for step in content["jobs"][name]["steps"] if "run" in step]
                for name in ("simulated", "gpu")]
    simulated, real = content["gpu-memory-simulated"], content["gpu-memory-real"]
    return [content[".gpu-memory"]["before_script"] + simulated["script"], real["before_script"] + real["script"]]


def without_a_gpu(line):
    """The packages are those of this machine, and the simulated GPU takes the place of a real one."""
    line = line.replace(".venv/bin/", "").replace("pytest -n auto", "pytest -n 2")
    line = re.sub(r"vramscope run -o", "vramscope run --simulate h100-80g -o", line)
    return re.sub(r"--vramscope(?= |$)", "--vramscope-simulate h100-80g", line)


def shell_of_the_jobs(project, files, env, python):
    """The commands of the jobs run as they are in the files, but for the installation of packages."""
    env = dict(env, GITHUB_STEP_SUMMARY=str(project / "summary.md"))
    for name in files:
        done = subprocess.run([python, "-c", READER, project / name], stdout=subprocess.PIPE, text=True, check=True)
        content = json.loads(done.stdout)
        installed = [line for lines in jobs_of(content) for line in lines if "pip install" in line]
        assert len(installed) >= 2 and all("wheel/*.whl" in line for line in installed), installed
        for lines in jobs_of(content):
            for made in (*project.glob("*.xml"), *project.glob("*.vst")):
                made.unlink()
            lines = [line for line in lines if not re.search(r"pip install|-m venv|activate|apt-get", line)]
            script = "\n".join(without_a_gpu(line) for line in lines)
            done = subprocess.run(["bash", "-e", "-c", script], env=env, cwd=project, text=True, timeout=600,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            assert done.returncode == 0, (name, script, done.stdout)
            assert (project / "train.vst").exists() and "passed" in done.stdout, (name, done.stdout)
    assert "peak" in (project / "summary.md").read_text(encoding="utf-8")
    for name in ("memory.sarif", "memory.codequality.json", "memory.metrics", "memory.xml", "tests.xml"):
        assert (project / name).stat().st_size > 0, name


def wheel_of_each_commit(project, env, python):
    """GitLab's job that builds the wheel: again when the branch moved, not otherwise; also of a hash."""
    content = json.loads(subprocess.run([python, "-c", READER, project / "gitlab/gpu-memory.gitlab-ci.yml"],
                                        stdout=subprocess.PIPE, text=True, check=True).stdout)
    script = "\n".join(content["gpu-memory-wheel"]["script"])
    source = project / "its-source"
    (source / "scripts").mkdir(parents=True)
    (source / "scripts/wheel").write_text("#!/bin/sh\nmkdir $1 && echo built && touch $1/v.whl\n", encoding="utf-8")
    (source / "scripts/wheel").chmod(0o755)
    commit = ("git init -qb main; git add -A; git -c user.name=a -c user.email=a@b.example commit -qm x --allow-empty;"
              "git rev-parse HEAD")
    for revision, built in (("main", 1), ("main", 1), ("main", 0), (None, 0)):
        if built:
            hash_ = subprocess.run(commit, shell=True, cwd=source, text=True, check=True,
                                   stdout=subprocess.PIPE).stdout.strip()
        done = subprocess.run(["bash", "-e", "-c", script], cwd=project, text=True, stdout=subprocess.PIPE, check=True,
                              env=dict(env, VRAMSCOPE_REPOSITORY=str(source), VRAMSCOPE_REVISION=revision or hash_))
        assert done.stdout.count("built") == built and list(project.glob("wheel/*.whl")), (revision, done.stdout)
        shutil.rmtree(project / "vramscope")


class Comments(http.server.BaseHTTPRequestHandler):
    """The parts of GitHub's and GitLab's interfaces that comment.py uses."""
    kept, calls = {}, []

    def do_GET(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "{}")
        self.calls.append((self.command, self.path, self.headers["Authorization"] or self.headers["PRIVATE-TOKEN"]))
        if self.command != "GET":
            self.kept[int(self.path.rsplit("/", 1)[1]) if self.command != "POST" else 7] = body["body"]
        self.send_response(200)
        self.end_headers()
        page = int((re.findall(r"&page=(\d+)", self.path) or ["1"])[0])
        listed = [{"id": i, "body": text} for i, text in self.kept.items()][page * 100 - 100:page * 100]
        self.wfile.write(json.dumps(listed).encode())

    do_POST = do_PATCH = do_PUT = do_GET

    def log_message(self, *_):
        pass


def comments(project, env, python):
    """The action's steps and the component's script, for a change that needs more: a first comment, then an update."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Comments)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    api, event = f"http://127.0.0.1:{server.server_port}", project / "event.json"
    event.write_text('{"pull_request": {"number": 12}}', encoding="utf-8")
    trainer = project / "ci_trainer.c"
    shutil.copy(project / "train.vst", project / "base.vst")
    text = trainer.read_text(encoding="utf-8")
    trainer.write_text(text.replace("activation_bytes = 8 << 20", "activation_bytes = 9 << 20"), encoding="utf-8")
    record = "make -s && vramscope run -q --simulate h100-80g -o train.vst -- ./train"
    subprocess.run(record, shell=True, env=env, cwd=project, check=True, stdout=subprocess.DEVNULL)
    contents = [json.loads(subprocess.run([python, "-c", READER, project / name], stdout=subprocess.PIPE, text=True,
                                          check=True).stdout) for name in ("github/action/action.yml", "component.yml")]
    action = [step["run"] for step in contents[0]["runs"]["steps"] if "run" in step]
    action.insert(2, 'STATUS=$(sed -n "s/^status=//p" "$GITHUB_OUTPUT")')
    script = contents[1]["gpu-memory-comment"]["script"]
    common = dict(env, TRACE="train.vst", BASE="base.vst", CHECK="--budget vramscope.toml", GITHUB_WORKSPACE="")
    hub = dict(common, GITHUB_EVENT_PATH=str(event), GITHUB_API_URL=api, GITHUB_REPOSITORY="o/r", GITHUB_TOKEN="t",
               GITHUB_STEP_SUMMARY=str(project / "summary.md"), GITHUB_OUTPUT=str(project / "output"))
    lab = dict(common, CI_API_V4_URL=api, CI_PROJECT_ID="5", CI_MERGE_REQUEST_IID="12", VRAMSCOPE_TOKEN="t",
               CI_COMMIT_BRANCH="", CI_DEFAULT_BRANCH="main")
    for lines, variables, note in ((action, hub, "/repos/o/r/issues"), (script, lab, "/projects/5/merge_requests/12/notes")):
        Comments.kept = {100 + i: "by others" for i in range(100)}
        for time in range(2):
            Comments.calls.clear()
            (project / "output").write_text("")
            done = subprocess.run(["bash", "-e", "-c", "\n".join(lines)], env=variables, cwd=project, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
            assert done.returncode == 1, done.stdout  # that of the check
            methods = [method for method, *_ in Comments.calls]
            wanted = ["GET", "GET", ("PATCH" if variables is hub else "PUT") if time else "POST"]
            assert methods == wanted, (Comments.calls, done.stdout)
            assert all(path.startswith(note) and token.endswith("t") for _, path, token in Comments.calls), Comments.calls
        text = Comments.kept[7]
        for wanted in ("limits exceeded", "| grown | +8.00 MiB | forward (ci\\_trainer.c:", "xychart-beta", "bar [8.000]"):
            assert wanted in text, (wanted, text)
        assert (project / "gpu-memory.svg").stat().st_size > 0
    server.shutdown()
    subprocess.run(record.replace("make -s", "make -sB CFLAGS=-fPIC"), shell=True, env=env, cwd=project, check=True,
                   stdout=subprocess.DEVNULL)
    done = subprocess.run([sys.executable, "comment.py", "none.md", "train.vst"], cwd=project, stderr=subprocess.PIPE,
                          text=True, check=False)
    assert done.returncode == 1 and done.stderr.endswith("--output markdown=none.md writes this file\n"), done
    (project / "damaged.vst").write_text("no trace", encoding="utf-8")
    for base, wanted in (("base.vst", 'x-axis ["forward"]'), ("damaged.vst", "Not compared with the target branch")):
        done = subprocess.run([sys.executable, "comment.py", "gpu-memory.md", "train.vst", base], env=env, cwd=project,
                              stdout=subprocess.PIPE, text=True, check=True)  # the first: lines without a source file
        assert wanted in done.stdout, (wanted, done.stdout)


def torch(source, build, scratch, env, project):
    """The tests of the PyTorch model, and that they can fail: with the line of the model that holds most."""
    sys.path.insert(0, str(source / "tests/torch"))
    environments = importlib.import_module("environments").find()
    pure = pytest_environment.ENVIRONMENTS["newest"].folder
    sites = sorted(pure.glob("lib/python3.*/site-packages"))
    found = [each for each in environments if sites and each.site.parts[-2] == sites[0].parts[-2]]
    if not found:
        skip("no environment with PyTorch for the Python of build/pytest")
    each = found[0]
    env = dict(env, PYTHONPATH=f"{source / 'python'}:{sites[0].resolve()}")
    words = [each.python, "-m", "pytest", "-p", "vramscope.pytest_plugin", "test_ci_model.py"]
    done = subprocess.run(words, env=env, cwd=project, stdout=subprocess.PIPE, text=True, timeout=600)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout
    for options in (["--vramscope-update-baseline"], ["-n", "2"]):  # the figures are the same in a worker
        done = subprocess.run([*words, "--vramscope-baseline", "model.json", *options], env=env, cwd=project,
                              stdout=subprocess.PIPE, text=True, timeout=600)
        assert done.returncode == 0, done.stdout
    path = project / "test_ci_model.py"
    text = path.read_text(encoding="utf-8").replace("80 MiB", "30 MiB")
    text = text.replace("        loss.backward()\n", "        loss.backward()\n        kept.append(loss)\n")
    path.write_text(text.replace("def train(", "kept = []\n\n\ndef train("), encoding="utf-8")
    done = subprocess.run(words, env=env, cwd=project, stdout=subprocess.PIPE, text=True, timeout=600)
    assert done.returncode == 1 and "2 failed" in done.stdout, done.stdout
    assert re.search(r"exceeds the limit of 30\.0 MiB(?s:.*)test_ci_model\.py:\d+ train", done.stdout), done.stdout
    assert re.search(r"growth of GPU memory per step 512 B exceeds the limit of 0 B", done.stdout), done.stdout
    leak_beside_tensors(project, env, found)


def leak_beside_tensors(project, env, environments):
    """A leak of the CUDA code fails its tests whether tensors live in the process or not."""
    trainer = project / "ci_trainer.c"
    text = trainer.read_text(encoding="utf-8")
    trainer.write_text(text.replace("status = cuda_free(gradient);", "(void)gradient;"), encoding="utf-8")
    subprocess.run(["make", "-s"], cwd=project, check=True)
    (project / "test_tensor.py").write_text(
        "import torch\nheld = []\n\n\ndef test_tensor():\n    held.append(torch.ones(1 << 20, device='cuda'))\n",
        encoding="utf-8")
    for each in environments:
        for files in (["test_tensor.py", "test_ci_trainer.py"], ["test_ci_trainer.py", "test_tensor.py"]):
            done = subprocess.run([each.python, "-m", "pytest", "-p", "vramscope.pytest_plugin", *files], env=env,
                                  cwd=project, stdout=subprocess.PIPE, text=True, timeout=600)
            assert done.returncode == 1 and "2 failed, 1 passed" in done.stdout, (each.release, files, done.stdout)
            for line in (r"leak of GPU memory 16\.0 MiB exceeds", r"growth of GPU memory per step 16\.0 MiB exceeds",
                         r"(?m)^ +36\.0 MiB +16\.0 MiB .*test_step", r"(?m)^ +116\.0 MiB +96\.0 MiB .*not_grow"):
                assert re.search(line, done.stdout), (each.release, files, line, done.stdout)


def main():
    source, build, case = sys.argv[1:]
    source, build = pathlib.Path(source).resolve(), pathlib.Path(build).resolve()
    pythons = pytest_environment.find()
    if not pythons:
        skip("pytest is not installed; tests/plugin/pytest_environment.py fetch installs it in build/pytest")
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        env = environment(source, build, scratch, list(pythons.values())[-1])
        globals()[case](source, build, scratch, env, copy_of(source, scratch))


if __name__ == "__main__":
    main()
