"""Every byte, three times, and no newline at the end."""
import sys

sys.stdout.buffer.write(bytes(range(256)) * 3 + b"no newline")
