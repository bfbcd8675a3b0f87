/**
 * More than any machine has that a cloud sells, with room for years: whoever asks for more waits for ever. (The largest
 * that AWS lists in 2026 has 1,920 vCPUs and 32 TiB.)
 */
export const largest = { vcpus: 4096, memoryMiB: 64 * 1024 * 1024, memory: '64Ti' } as const;

/** A microVM of Firecracker, the platform's hypervisor for `micro` instances, has at most this many vCPUs. */
export const largestMicroVm = { vcpus: 32 } as const;
