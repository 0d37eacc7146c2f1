// Policies with mistakes never become active: the schema rejects them, as the API server does, with the path of the
// field. `gw run` then keeps the last valid configuration.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadSource, type LoadedSource } from '#cli/source.ts'
import { replacing } from './suite/case.ts'
import { SAMPLES } from './suite/gateway.ts'

const MISTAKES = [
  ['csrf', '- https://shop.example.com', '- shop.example.com', 'spec.traffic.csrf.additionalOrigins[0]'],
  ['csrf', '  traffic:\n', '  traffic:\n    phase: PreRouting\n', 'spec.traffic'],
  ['cors', '- https://shop.example.com', '- shop.example.com', 'spec.traffic.cors.allowOrigins[0]'],
  ['authorization', 'action: Deny', 'action: Refuse', 'spec.traffic.authorization.action'],
  ['rate-limit', 'requests: 2', 'requests: 0', 'spec.traffic.rateLimit.local[0].requests'],
  ['backend-tls', 'sni: echo.example.com', 'sni: Echo Example', 'spec.backend.tls.sni'],
  ['backend-auth', 'name: x-api-key', 'name: x api key', 'spec.backend.auth.location.header.name'],
  ['frontend-http', 'http1MaxHeaders: 16', 'http1MaxHeaders: 0', 'spec.frontend.http.http1MaxHeaders'],
] as const

async function load(name: string, manifests: string): Promise<LoadedSource> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-refused-'))
  try {
    const file = join(folder, `${name}.yaml`)
    writeFileSync(file, manifests)
    const source = await loadSource(file)
    if ('problem' in source) throw new Error(source.problem)
    return source
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('rejected policies', () => {
  it.each(MISTAKES)('%s with %j as %j: %s', async (name, from, to, path) => {
    const manifests = replacing(from, to)(readFileSync(join(SAMPLES, `${name}.yaml`), 'utf8'))
    const { rendered, problems } = await load(name, manifests)
    expect(rendered).toBeUndefined()
    expect(problems.map((problem) => problem.path)).toEqual(expect.arrayContaining([expect.stringContaining(path)]))
    for (const { file, line } of problems) expect(`${file}:${line}`).toMatch(/\.yaml:\d+$/)
  })
})
