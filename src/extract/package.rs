//! Files packed by zip, unpacked within limits.
