// Only `api/bounded-json.ts` parses text from a peer. `JSON.parse` elsewhere reads text of this program or of its
// administrator; each such place is listed with the reason.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** Calls without limits, and why no peer can control their input. */
const UNBOUNDED: Readonly<Record<string, string>> = {
  'api/bounded-json.ts': 'checks the text first',
  'api/json.ts': 'parseOwnJson, whose callers are listed below',
  'api/delivery/document.ts': 'a document of the operator, by its hash',
  'proxy/metrics/buffer.ts': 'lines that this program wrote into shared memory',
  'proxy/otlp/attributes.ts': 'text of jsonText, which has its own limits',
  'proxy/otlp/environment.ts': 'an environment variable of the process',
  'proxy/policy/external/ext-auth/request-view.ts': 'text of jsonText, which has its own limits',
  'proxy/policy/external/ext-proc/messages.ts': 'text of jsonText, which has its own limits',
  'proxy/runtime/sliced-change.ts': 'items that the main thread wrote for its workers',
  'proxy/trace/snapshot.ts': 'text of jsonText, which has its own limits',
  'api/delivery/chunks.ts': 'chunks of the operator, by their hash',
  'api/delivery/index-file.ts': 'the index of the operator',
  'api/delivery/secret-reader.ts': 'pieces of the operator, by their hash',
  'api/kube/answer.ts': 'answers of the API server',
}

/** The library parses the token itself; its user measures the token first. */
const TOKEN_LIBRARY_USERS = ['proxy/auth/jwt-verifier.ts']

const sources = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', 'api', 'operator', 'proxy'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => file.endsWith('.ts') && !/(?:\.test|\.testing|\.gen|\.d|\/bench)\.ts$/.test(file))
  .filter((file) => !/\/(?:testdata|bench)\//.test(file) && existsSync(join(ROOT, file)))

function filesWith(pattern: RegExp): string[] {
  return sources.filter((file) => {
    const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')
    return pattern.test(code)
  })
}

describe('JSON', () => {
  it('is parsed without limits only if the text is not from a peer', () => {
    const found = filesWith(/\bJSON\.parse\(|\bparseOwnJson\(|await [^\n]*\.json\(\)/)
    expect(found.toSorted()).toEqual(Object.keys(UNBOUNDED).toSorted())
  })

  it('in tokens is parsed by the library only after it was measured', () => {
    expect(filesWith(/from 'jose'/)).toEqual(TOKEN_LIBRARY_USERS)
    for (const file of TOKEN_LIBRARY_USERS) expect(readFileSync(join(ROOT, file), 'utf8')).toContain('jsonExcess(')
  })
})
