// How many file descriptors the process has open and may open. A connection takes one, and so does each one to a
// backend; beyond the limit the system closes connections before the proxy has seen them. Linux; elsewhere nothing.
import { readdirSync, readFileSync, statSync } from 'node:fs'

/** Fewer than this is a mistake of whoever starts the proxy, not a choice. */
export const FEW_DESCRIPTORS = 1024

/** undefined: it cannot be told now. */
export function openDescriptors(): number | undefined {
  try {
    // Linux 6.2 and later tell their number, which costs microseconds and no descriptor; those before it say 0.
    const { size } = statSync('/proc/self/fd')
    return size > 0 ? size : readdirSync('/proc/self/fd').length
  } catch {
    // Not Linux, or none is left to look with.
    return undefined
  }
}

/** undefined: unlimited, or it cannot be told. */
export function descriptorLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    // Not Linux.
    return undefined
  }
}
