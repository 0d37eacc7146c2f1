// The kubectl calls of hack/install-crds.sh: which kinds it installs, and which it does not change.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const SCRIPT = join(import.meta.dirname, '../hack/install-crds.sh')
const GATEWAYS = 'customresourcedefinition.apiextensions.k8s.io/gateways.gateway.networking.k8s.io'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-install-crds-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

/** In a cluster with the Gateway API, so nothing is fetched. */
function install(
  env: Record<string, string>,
  names = GATEWAYS,
): { code: number | null; text: string; calls: string[] } {
  const calls = join(folder, 'calls')
  const kubectl = join(folder, 'kubectl')
  const answers = `case "$*" in *-o\\ name*) echo '${names}' ;; *jsonpath*) printf v1.6.3/standard ;; esac`
  writeFileSync(kubectl, `#!/bin/bash\necho "$*" >>'${calls}'\n${answers}\n`)
  chmodSync(kubectl, 0o755)
  writeFileSync(calls, '')
  const all = { ...process.env, ...env, KUBECTL: kubectl }
  const { status, stdout, stderr } = spawnSync(SCRIPT, { encoding: 'utf8', env: all })
  const lines = readFileSync(calls, 'utf8').split('\n')
  return { code: status, text: stdout + stderr, calls: lines.filter((line) => /^(apply|wait)/.test(line)) }
}

const WAIT = `wait --for=condition=Established --timeout 60s ${GATEWAYS}`

it('installs the kinds of Gw and does not change those of the Gateway API', () => {
  const { code, text, calls } = install({})
  expect([code, calls]).toEqual([0, ['apply --server-side --force-conflicts -k config/crd', WAIT]])
  expect(text).toContain('Gateway API v1.6.3/standard is in the cluster and stays as it is')
})

it('leaves the kinds of Gw to the chart with GW_CRDS=skip', () => {
  expect(install({ GW_CRDS: 'skip' })).toMatchObject({ code: 0, calls: [WAIT] })
})

it('waits for nothing in a cluster without any of the kinds', () => {
  expect(install({ GW_CRDS: 'skip', GATEWAY_API: 'skip' }, '')).toMatchObject({ code: 0, calls: [] })
})

it.each([
  [{ GW_CRDS: 'no' }, 'GW_CRDS is apply or skip'],
  [{ GATEWAY_API: 'no' }, 'GATEWAY_API is auto, apply or skip'],
])('rejects %o before it changes anything', (env, message) => {
  expect(install(env)).toEqual({ code: 2, text: `${message}\n`, calls: [] })
})
