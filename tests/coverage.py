"""Line coverage by layer from gcov's JSON: python3 tests/coverage.py BUILD LAYER..."""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile


def lines_of(notes):
    """(source, line) -> executed, from one .gcda file."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcov", "--json-format", os.path.abspath(notes)], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name in glob.glob(folder + "/*.gcov.json.gz"):
            with gzip.open(name) as stream:
                for file in json.load(stream)["files"]:
                    for line in file["lines"]:
                        yield file["file"], line["line_number"], line["count"] > 0


def main():
    build, layers = sys.argv[1], sys.argv[2:]
    covered = collections.defaultdict(lambda: collections.defaultdict(bool))
    for layer in layers:
        for notes in glob.glob(f"{build}/{layer}/**/*.gcno", recursive=True):
            data = notes[:-4] + "gcda"
            for file, line, hit in lines_of(data if os.path.exists(data) else notes):
                if file.startswith(f"src/{layer}/"):
                    covered[file][line] |= hit
    total_hit = total = 0
    for layer in layers:
        files = {f: lines for f, lines in covered.items() if f.startswith(f"src/{layer}/")}
        hit, count = sum(sum(x.values()) for x in files.values()), sum(map(len, files.values()))
        total_hit, total = total_hit + hit, total + count
        print(f"{layer:<10} {100 * hit / max(count, 1):5.1f} %  {hit} of {count} lines")
        for file, lines in sorted(files.items()):
            share = 100 * sum(lines.values()) / len(lines)
            if share < 90:
                print(f"    {share:5.1f} %  {file}")
    print(f"{'all':<10} {100 * total_hit / max(total, 1):5.1f} %  {total_hit} of {total} lines")


if __name__ == "__main__":
    main()
