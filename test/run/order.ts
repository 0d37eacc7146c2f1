// Which test files run in parallel, and which run first.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Run one after the other, after all other files: they use fixed ports, start an API server with a whole control plane,
 * or measure how threads share the processors.
 */
export const ALONE = [
  'test/quickstart/**/*.test.ts',
  'test/cluster/**/*.test.ts',
  'test/image/**/*.test.ts',
  'test/observability/trace-load.test.ts',
  'proxy/runtime/{proxy,readiness,worker-pool}.test.ts',
]

const ROOT = join(import.meta.dirname, '../..')
const TRANSLATION = [
  '{api,deployer,codegen}/**/*.test.ts',
  'operator/translate/**/*.test.ts',
  'test/merge/*.test.ts',
  'test/policy-coverage/{defaults,filters,kind-coverage,limits,malformed*,policy-coverage}.test.ts',
]
const OTHERS = '{operator,proxy,cli,bench}/**/*.test.ts'

/** Pure, but in their own processes: they replace modules that other files of a shared process would load first. */
export const ISOLATED = ['operator/translate/defects.test.ts']

/** Sockets, threads, processes, timers and everything else that can affect the next file. */
const TRACES = new RegExp(
  [
    String.raw`\b(spawn|fork|listen|connect|fetch|createServer|Worker)\(|\blistening|startProxy|globalThis|setTimeout`,
    String.raw`setInterval|child_process|worker_threads|undici|prom-client|node:(net|tls|http2?|https|dgram)\b`,
    String.raw`\bprocess\.(env|on|once|chdir|exit|kill)|\bvi\.(mock|doMock|useFakeTimers|stubEnv|stubGlobal)`,
  ].join('|'),
)

/** Paths from which a file imports its helpers. */
const HELPER = /from '((?:\.|#(?:test|proxy|operator|cli)\/)[^']*)'/g
const IS_HELPER = /\.testing\.ts$|^test\//

/** Whether neither the file, relative to the root, nor a helper that it imports uses anything that outlives a test. */
export function isPure(file: string, read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')): boolean {
  const source = read(file)
  const imported = [...source.matchAll(HELPER)].map(([, from = '']) =>
    from.startsWith('#') ? from.slice(1) : join(dirname(file), from),
  )
  return [source, ...imported.filter((path) => IS_HELPER.test(path)).map(read)].every((text) => !TRACES.test(text))
}

/** Without sockets, processes and timers: these files share processes. */
export const PURE = [
  ...TRANSLATION,
  ...globSync(OTHERS, { cwd: ROOT })
    .filter((file) => !isIn([...TRANSLATION, ...ALONE], file))
    .filter((file) => isPure(file))
    .toSorted(),
]

/** Mocks and handlers of the process: another file of a shared process would see them. */
const PROCESS_WIDE = /\bvi\.(mock|doMock|useFakeTimers|stub|spyOn)|\bprocess\.(on|once|chdir|exit|kill)\(|globalThis/

/** They close their servers and timers; a process for each would load the whole operator again, for a second. */
export const OPERATOR = globSync(['operator/**/*.test.ts', 'test/fakekube/*.test.ts'], { cwd: ROOT })
  .filter((file) => !isIn([...PURE, ...ISOLATED], file))
  .filter((file) => !PROCESS_WIDE.test(readFileSync(join(ROOT, file), 'utf8')))
  .toSorted()

/** The longest files, so that no worker runs one of them at the end while the other is idle. */
export const FIRST = [
  'test/policy-coverage/malformed.test.ts',
  'test/policy-coverage/malformed-inline.test.ts',
  'test/fakekube/faults.test.ts',
  'test/conformance/cases-1.test.ts',
  'test/conformance/cases-2.test.ts',
  // May have to build its tool with Go first.
  'proxy/admin/pprof.test.ts',
  'proxy/tls/tls.test.ts',
  'test/cli/run.test.ts',
  'test/cli/protocols.test.ts',
  'api/v1alpha1/parity.test.ts',
  'api/gateway/validation.test.ts',
  'operator/publish/plan-delivery.prop.test.ts',
  'operator/controllers/operator.test.ts',
  'proxy/http/relay.test.ts',
  'proxy/policy/resilience/retry.test.ts',
]

function isIn(patterns: readonly string[], file: string): boolean {
  return patterns.some((pattern) => matchesGlob(file, pattern))
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b))
  }
}

function groupOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder
}

function rankOf({ moduleId, project }: TestSpecification): number {
  const at = FIRST.indexOf(relative(project.config.root, moduleId))
  return at === -1 ? FIRST.length : at
}
