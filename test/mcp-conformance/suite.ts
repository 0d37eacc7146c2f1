// The official conformance suite of MCP (npm), at a fixed version: its server leg against one URL, and its client leg
// with the client of this folder.
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

export const VERSION = '0.2.0-alpha.12'
export const DATES = ['2025-06-18', '2025-11-25', '2026-07-28'] as const
export type ProtocolDate = (typeof DATES)[number]

const FOLDER = join(import.meta.dirname, '../../.cache/mcp-conformance', VERSION)
const PROGRAM = join(FOLDER, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const INSTALL_MS = 180_000
const RUN_MS = 180_000
const SCENARIO_MS = 20_000
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
/** Names of folders with results: `server-SCENARIO-2026-11-23T21-00-15-791Z`; without `server-` in the client leg. */
const RESULT = /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/
const CLIENT = join(import.meta.dirname, 'client.ts')
/** A cold start of the gateway on a busy machine. */
const CLIENT_MS = 60_000

const run = promisify(execFile)

export interface Check {
  readonly scenario: string
  readonly id: string
  readonly status: 'passed' | 'failed' | 'skipped'
  /** Reason of a failed or skipped check, as the suite reports it. */
  readonly reason: string
}

/** Downloads the suite into `.cache/mcp-conformance` unless it is there. */
export async function install(): Promise<void> {
  if (existsSync(PROGRAM)) return
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), '{"private":true}')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['install', '-E', ...options, `@modelcontextprotocol/conformance@${VERSION}`], {
    cwd: FOLDER,
    timeout: INSTALL_MS,
  })
}

/** All scenarios of the date but those of extensions. Throws if the suite does not run; a failed check is a result. */
export function checks(url: string, date: ProtocolDate): Promise<Check[]> {
  return resultsOf(['server', '--url', url, '--suite', 'all', '--spec-version', date, '--timeout', String(SCENARIO_MS)])
}

/** One scenario of the client leg: the suite is the server, and the official client calls it in this way. */
export function clientChecks(way: 'directly' | 'gateway', scenario: string, date: ProtocolDate): Promise<Check[]> {
  const command = `${process.execPath} ${CLIENT} ${way}`
  const args = ['client', '--command', command, '--scenario', scenario, '--timeout', String(CLIENT_MS)]
  return resultsOf([...args, '--spec-version', date])
}

async function resultsOf(args: readonly string[]): Promise<Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-mcp-conformance-'))
  try {
    const failure = await run(process.execPath, [PROGRAM, ...args, '-o', folder], {
      timeout: RUN_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
    }).then(
      () => undefined,
      (error: unknown) => error,
    )
    const found = globSync(join(folder, '**/checks.json')).flatMap(read)
    if (found.length === 0 || (failure !== undefined && !isExit(failure))) {
      throw new Error(`the suite did not run: ${args.join(' ')}`, { cause: failure })
    }
    return found.toSorted((a, b) => `${a.scenario} ${a.id}`.localeCompare(`${b.scenario} ${b.id}`))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Exit code 1: checks failed. A killed process has no exit code. */
function isExit(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure && failure.code === 1
}

interface Written {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly errorMessage?: string
  readonly description: string
  readonly details?: { readonly note?: string; readonly message?: string }
}

const STATUSES = {
  SUCCESS: 'passed',
  FAILURE: 'failed',
  WARNING: 'failed',
  SKIPPED: 'skipped',
  INFO: 'skipped',
} as const

function read(file: string): Check[] {
  const scenario = RESULT.exec(basename(join(file, '..')))?.[1]
  if (scenario === undefined) throw new Error(`a folder of the suite has an unknown name: ${file}`)
  const written = JSON.parse(readFileSync(file, 'utf8')) as Written[] // of the suite
  const times = new Map<string, number>()
  return written.map(({ id, status, errorMessage, description, details }) => {
    const time = (times.get(id) ?? 0) + 1
    times.set(id, time)
    return {
      scenario,
      id: time === 1 ? id : `${id} (${time})`,
      status: STATUSES[status],
      reason: errorMessage ?? details?.note ?? details?.message ?? description,
    }
  })
}
