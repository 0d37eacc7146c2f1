// Finds the process that listens on a port, for the error message of a failed start. Linux only, best effort, never on
// the request path.
import { readFile, readdir, readlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { printable } from '#api/printable.ts'

/** Limit of the search: processes and file descriptors. */
const PROCESSES_MAX = 2000
const DESCRIPTORS_MAX = 2000
const LISTEN_STATE = '0A'
const INTERPRETER = /^(?:node|bun|deno|python|ruby|perl|php|java|sh|bash)[\d.]*$/
const OWN_SCRIPT = /(?:^|\/)cli\/main\.ts$|(?:^|\/)gw\.m?js$/

/** `nginx (pid 1234)`; undefined if the process cannot be found. */
export async function portHolder(port: number): Promise<string | undefined> {
  const users = await listeningSockets(port)
  if (users.size === 0) return undefined
  const pids = (await list('/proc')).filter((name) => /^\d+$/.test(name)).slice(0, PROCESSES_MAX)
  for (const pid of pids) {
    if (!(await holdsSocket(pid, users))) continue
    if (Number(pid) === process.pid) return 'this proxy itself'
    const name = await programOf(pid)
    return name === '' ? `process ${pid}` : `${printable(name)} (pid ${pid})`
  }
  const other = [...users.values()].find((user) => user !== String(process.getuid?.()))
  return other === undefined ? undefined : `a process of another user (uid ${other})`
}

/** The kernel's name is the name of a thread, and the same for all programs of an interpreter: `node server.js`. */
async function programOf(pid: string): Promise<string> {
  const program = basename(await readlink(`/proc/${pid}/exe`).catch(() => '')).replace(/ \(deleted\)$/, '')
  if (program === '') return (await read(`/proc/${pid}/comm`)).trim()
  if (!INTERPRETER.test(program)) return program
  const script = (await read(`/proc/${pid}/cmdline`)).split('\0').slice(1).find(isScript)
  if (script === undefined) return program
  return OWN_SCRIPT.test(script) ? 'gw' : `${program} ${basename(script)}`
}

/** Flags and their values are not names, and code on the command line is not a name. */
function isScript(argument: string): boolean {
  return /^[^-\s][^\s]*\.\w+$/.test(argument)
}

/** Sockets as links in `/proc` name them, with their user. */
async function listeningSockets(port: number): Promise<Map<string, string>> {
  const users = new Map<string, string>()
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await read(table)).split('\n')) {
      const columns = line.trim().split(/\s+/)
      const inode = columns[9]
      if (columns[1]?.endsWith(suffix) === true && columns[3] === LISTEN_STATE && inode !== undefined) {
        users.set(`socket:[${inode}]`, columns[7] ?? '')
      }
    }
  }
  return users
}

async function holdsSocket(pid: string, sockets: ReadonlyMap<string, string>): Promise<boolean> {
  const directory = `/proc/${pid}/fd`
  for (const descriptor of (await list(directory)).slice(0, DESCRIPTORS_MAX)) {
    const target = await readlink(`${directory}/${descriptor}`).catch(() => '')
    if (sockets.has(target)) return true
  }
  return false
}

function list(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => [])
}

function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
