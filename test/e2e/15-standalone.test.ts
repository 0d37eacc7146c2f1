// The chart of a proxy without a controller: it serves its file, and applies a change of it.
import { execFileSync } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from './suite/client.ts'
import { proxyImage } from './suite/images.ts'
import { kubectl, rolledOut } from './suite/kubectl.ts'
import { NAMESPACE } from './suite/samples.ts'

const ADDRESS = `http://alone.${NAMESPACE}.svc.cluster.local`

function manifests(header: string): string {
  const routes = [
    {
      policies: { requestHeaderModifier: { set: { 'x-from': header } } },
      backends: [{ host: `echo.${NAMESPACE}.svc.cluster.local:80` }],
    },
  ]
  const helm = execFileSync('hack/helm.sh', { encoding: 'utf8' }).trim()
  const tag = proxyImage().split(':').at(-1) ?? ''
  const sets = [`image.tag=${JSON.stringify(tag)}`, `config.routes=${JSON.stringify(routes)}`]
  const args = ['template', 'alone', 'config/helm/gw-standalone', '-n', NAMESPACE, '--kube-version', '1.34.0']
  return execFileSync(helm, [...args, ...sets.flatMap((one) => ['--set-json', one])], { encoding: 'utf8' })
}

describe('standalone chart', () => {
  afterAll(async () => {
    await kubectl(['delete', '--ignore-not-found', '-f', '-'], manifests('gone'))
  })

  it('serves its file, and a changed one without a restart', async () => {
    await kubectl(['apply', '--server-side', '-f', '-'], manifests('first'))
    await rolledOut('deployment', NAMESPACE, 'alone')
    const answer = await until({ url: ADDRESS }, { status: 200, includes: ['"x-from":"first"'] })
    expect(answer.status).toBe(200)
    await kubectl(['apply', '--server-side', '-f', '-'], manifests('second'))
    // The kubelet updates the file within about a minute.
    await until({ url: ADDRESS }, { status: 200, includes: ['"x-from":"second"'] }, { withinMs: 150_000 })
  })
})
