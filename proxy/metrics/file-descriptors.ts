// The number of open file descriptors of the process, and its limit. Each connection of a client or to a backend takes
// one; beyond the limit, the system closes connections before the proxy sees them. Linux only.
import { readdirSync, readFileSync, statSync } from 'node:fs'

/** A lower limit is a mistake of the installation, not a choice. */
export const FEW_DESCRIPTORS = 1024

/** undefined: the number is not available now. */
export function openDescriptors(): number | undefined {
  try {
    // Linux 6.2 and later report the number, which costs microseconds and no descriptor; earlier versions report 0.
    const { size } = statSync('/proc/self/fd')
    return size > 0 ? size : readdirSync('/proc/self/fd').length
  } catch {
    // Not Linux, or no descriptor is left for the query.
    return undefined
  }
}

/** undefined: unlimited, or not available. */
export function descriptorLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    // Not Linux.
    return undefined
  }
}
