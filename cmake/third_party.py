#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is in a package besides vramscope: its list as SPDX 2.3 (JSON), and licences.

    third_party.py --deb ROOT    writes copyright and vramscope.spdx.json of the Debian package that is unpacked in ROOT

Versions are those of this machine's packages, of Debian or Ubuntu. bundle_wheel.py does the same for the wheel.
"""
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

# in the command: the packages that one of has it
STATIC = {"libiberty": ["libiberty-dev", "binutils-dev"], "xxHash": ["libxxhash-dev"]}
# likewise, where the command has the budget files, its only part in C++
STATIC_CXX = {"toml++": ["libtomlplusplus-dev"],
              "the GNU C++ runtime": ["libstdc++6", "gcc-12-base", "libstdc++-12-dev"]}
CXX_MARK = b"St9exception"
LOADED = ["libunwind.so.8", "libzstd.so.1"]  # by libvramscope.so
# by ID of /etc/os-release: who supplies the packages, and where their sources are
SUPPLIERS = {"debian": ("Debian", "https://sources.debian.org/src/{}/{}/"),
             "ubuntu": ("Ubuntu", "https://launchpad.net/ubuntu/+source/{}/{}")}
LGPL3 = "LGPL-3.0-or-later OR GPL-2.0-or-later"
# by source package, of the libraries alone
LICENCES = {
    "libunwind": "MIT", "libzstd": "BSD-3-Clause", "elfutils": LGPL3, "json-c": "MIT", "sqlite3": "blessing",
    "libmicrohttpd": "LGPL-2.1-or-later", "ncurses": "X11-distribute-modifications-variant", "zlib": "Zlib",
    "bzip2": "bzip2-1.0.6", "gnutls28": "LGPL-2.1-or-later", "p11-kit": "BSD-3-Clause", "libidn2": LGPL3,
    "libunistring": LGPL3, "libtasn1-6": "LGPL-2.1-or-later", "nettle": LGPL3, "gmp": LGPL3, "libffi": "MIT",
    "libiberty": "LGPL-2.0-or-later", "binutils": "LGPL-2.0-or-later", "xxhash": "BSD-2-Clause",
    "tomlplusplus": "MIT", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "xz-utils": "LicenseRef-public-domain"}


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def owner(path):
    """The package of the system that has the file."""
    found = run("dpkg", "-S", os.path.realpath(path))
    if not found and path.startswith("/lib"):  # merged /usr
        found = run("dpkg", "-S", path)
    if not found:
        sys.exit(f"third_party: no package has {path}, so its licence is unknown: build with the library of a package")
    return found.partition(":")[0]


def source_of(package):
    """(name, version) of the source package."""
    return tuple(run("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}\n", package).split("\n")[0].split())


def static_parts(command):
    parts = {**STATIC, **(STATIC_CXX if CXX_MARK in pathlib.Path(command).read_bytes() else {})}
    return {name: next((p for p in packages if os.path.exists(f"/usr/share/doc/{p}/copyright")), "")
            for name, packages in parts.items()}


def created():
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", "1577836800"))
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def spdx(version, components):
    """The document. *components*: (Debian package, how the package uses it, a relationship of SPDX), in order."""
    sources = {}
    for package, relation in components:
        sources.setdefault((source_of(package), relation), None)
    system = platform.freedesktop_os_release()
    supplier, location = SUPPLIERS.get(system["ID"], (system["NAME"], "NOASSERTION"))
    identity = "\n".join(f"{name} {number} {relation}" for (name, number), relation in sources)
    packages = [{"SPDXID": "SPDXRef-vramscope", "name": "vramscope", "versionInfo": version, "downloadLocation": "NOASSERTION",
                 "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
                 "copyrightText": "NOASSERTION", "supplier": "NOASSERTION"}]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-vramscope")]
    for (name, number), relation in sources:
        reference = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
        licence = LICENCES.get(name, "NOASSERTION")
        if reference not in [package["SPDXID"] for package in packages]:
            packages.append({
                "SPDXID": reference, "name": name, "versionInfo": number, "filesAnalyzed": False,
                "downloadLocation": location.format(name, number), "licenseConcluded": licence,
                "licenseDeclared": licence, "copyrightText": "NOASSERTION", "supplier": f"Organization: {supplier}",
                "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                  "referenceLocator": f"pkg:deb/{system['ID']}/{name}@{number}?arch=source"}]})
        relations.append(("SPDXRef-vramscope", relation, reference))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"vramscope-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/vramscope-{version}-{hashlib.sha256(identity.encode()).hexdigest()[:32]}",
        "creationInfo": {"created": created(), "creators": ["Tool: vramscope-third_party.py"]}, "packages": packages,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations]}
    if any(package["licenseDeclared"].startswith("LicenseRef-") for package in packages):
        document["hasExtractedLicensingInfos"] = [{"licenseId": "LicenseRef-public-domain", "name": "public domain",
                                                   "extractedText": "This software is in the public domain."}]
    return json.dumps(document, indent=1) + "\n"


def copyright_of(package):
    return pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text(encoding="utf-8", errors="replace")


def deb(root):
    doc, command = root / "usr/share/doc/vramscope", root / "usr/bin/vramscope"
    version = re.search(r"^Version: (.*)$", (root / "DEBIAN/control").read_text(encoding="utf-8"), re.M).group(1)
    needed = re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", str(command))) + LOADED
    places = dict(re.findall(r"^\s+(\S+) \(.*x86-64.*\) => (\S+)", run("/sbin/ldconfig", "-p"), re.M))
    static = static_parts(command)
    components = [(package, "STATIC_LINK") for package in static.values() if package]
    components += [(owner(places[name]), "DYNAMIC_LINK") for name in sorted(set(needed))
                   if name in places and not re.match(r"lib(c|m|dl|pthread|rt|gcc_s)\.so", name)]
    (doc / "vramscope.spdx.json").write_text(spdx(version, components), encoding="utf-8")
    text = ["Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: vramscope\n\n"
            "Files: *\nCopyright: The vramscope authors\nLicense: Apache-2.0\n\nLicense: Apache-2.0\n"
            " On Debian systems the full text of the Apache License 2.0 is in\n /usr/share/common-licenses/Apache-2.0.\n"]
    for name, package in static.items():
        body = "\n".join(f" {line}" if line.strip() else " ." for line in copyright_of(package).splitlines())
        text.append(f"Comment: {name} is linked into /usr/bin/vramscope; its licence:\n{body}\n")
    (doc / "copyright").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    deb(pathlib.Path(sys.argv[2]))
