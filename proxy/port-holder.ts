// Who listens on a port, for the error message of a failed start. Linux only, best effort, never on the request path.
import { readFile, readdir, readlink } from 'node:fs/promises'

/** Processes and descriptors looked at before the search is given up. */
const PROCESSES_MAX = 2000
const DESCRIPTORS_MAX = 2000
const LISTEN_STATE = '0A'

/** `process 1234 (nginx)`; undefined when it cannot be found out. */
export async function portHolder(port: number): Promise<string | undefined> {
  const inodes = await listeningInodes(port)
  if (inodes.size === 0) return undefined
  const pids = (await list('/proc')).filter((name) => /^\d+$/.test(name)).slice(0, PROCESSES_MAX)
  for (const pid of pids) {
    if (!(await holdsSocket(pid, inodes))) continue
    if (Number(pid) === process.pid) return 'this proxy itself'
    const name = await read(`/proc/${pid}/comm`)
    return `process ${pid}${name === '' ? '' : ` (${name.trim()})`}`
  }
  return undefined
}

async function listeningInodes(port: number): Promise<Set<string>> {
  const inodes = new Set<string>()
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await read(table)).split('\n')) {
      const columns = line.trim().split(/\s+/)
      const inode = columns[9]
      if (columns[1]?.endsWith(suffix) === true && columns[3] === LISTEN_STATE && inode !== undefined) {
        inodes.add(`socket:[${inode}]`)
      }
    }
  }
  return inodes
}

async function holdsSocket(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  const directory = `/proc/${pid}/fd`
  for (const descriptor of (await list(directory)).slice(0, DESCRIPTORS_MAX)) {
    const target = await readlink(`${directory}/${descriptor}`).catch(() => '')
    if (inodes.has(target)) return true
  }
  return false
}

function list(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => [])
}

function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
