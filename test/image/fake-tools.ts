// Programs that record their calls and return given answers: they test what scripts request from a container engine,
// without a container engine.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface FakeTools {
  /** For PATH: the fakes, node, and the small programs of the system; no real engine. */
  readonly path: string
  /** `docker build -f …`, in the order of the calls. */
  calls(): string[]
}

export interface FakeTool {
  readonly name: string
  /** Lines of shell that run after the call was recorded; `exit 1` makes it fail. */
  readonly does: string
}

const SYSTEM = [
  'bash',
  'sh',
  'env',
  'cat',
  'dirname',
  'grep',
  'mkdir',
  'rm',
  'tar',
  'ldd',
  'strip',
  'dpkg',
  'dpkg-query',
  'git',
  'touch',
]

export function fakeTools(folder: string, tools: readonly (string | FakeTool)[]): FakeTools {
  const log = join(folder, 'calls.log')
  mkdirSync(folder, { recursive: true })
  for (const name of SYSTEM) {
    const place = ['/bin', '/usr/bin', '/usr/local/bin'].map((each) => join(each, name)).find(existsSync)
    if (place !== undefined) program(join(folder, name), `exec ${place} "$@"`)
  }
  for (const tool of tools) {
    const { name, does } = typeof tool === 'string' ? { name: tool, does: '' } : tool
    program(join(folder, name), `echo "${name} $*" >> ${log}\n${does}`)
  }
  return {
    path: `${folder}:${dirname(process.execPath)}`,
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
  }
}

function program(file: string, body: string): void {
  writeFileSync(file, `#!/bin/sh\n${body}\n`)
  chmodSync(file, 0o755)
}
