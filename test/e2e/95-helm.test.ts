// The charts in a cluster without Gw: install, traffic, upgrade under load, uninstall. It removes the objects of
// `make deploy`, so it runs after all others.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLoad, stopLoad, until } from './suite/client.ts'
import { demoImage, proxyImage } from './suite/images.ts'
import { get, kubectl, list, remove, waitFor } from './suite/kubectl.ts'
import { NAMESPACE, serviceOf, themeFile, useSample } from './suite/samples.ts'

const SYSTEM = 'gw-helm'
const HOST = 'www.example.com'
const URL_ = `http://${serviceOf('http')}/`
const COMMAND_MS = 280_000
const OF_RELEASE = 'app.kubernetes.io/instance=gw,app.kubernetes.io/managed-by=Helm'
const NAMESPACED = 'deployments,services,serviceaccounts,roles,rolebindings,poddisruptionbudgets'
const KINDS_OF_RELEASE = `${NAMESPACED},clusterroles,clusterrolebindings,gatewayclasses`

async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { timeout: COMMAND_MS, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...env } }
  return (await promisify(execFile)(program, [...args], options)).stdout
}

async function helm(...args: readonly string[]): Promise<string> {
  return run((await run('hack/helm.sh', [])).trim(), [...args, '-n', SYSTEM])
}

/** Images of controller and proxies: the chart sets them separately. */
function imageValues(): string[] {
  const registry = demoImage().replace(/\/[^/]*$/, '')
  const tag = proxyImage().split(':').at(-1) ?? ''
  const images = ['image', 'proxy.image'].flatMap((image) => [`${image}.registry=${registry}`, `${image}.tag=${tag}`])
  return images.flatMap((value) => ['--set', value])
}

async function upgrade(...values: readonly string[]): Promise<string> {
  return helm(
    'upgrade',
    '--install',
    'gw',
    'config/helm/gw',
    ...imageValues(),
    ...values,
    '--wait',
    '--timeout',
    '170s',
  )
}

beforeAll(async () => {
  await run('hack/charts.sh', [])
  await run('hack/deploy.sh', ['down'], { FORCE: '1' })
})

afterAll(async () => {
  await kubectl(['delete', 'namespace', SYSTEM, '--ignore-not-found', '--timeout', '120s'])
  await kubectl(['delete', '-k', 'config/crd', '--ignore-not-found'])
})

describe('helm', () => {
  it('installs CRDs and controller in their own namespace, and traffic works', async () => {
    await helm('install', 'gw-crds', 'config/helm/gw-crds', '--create-namespace')
    expect(await upgrade()).toContain('STATUS: deployed')
    await useSample('http')
    await until({ url: URL_, host: HOST }, { status: 200 })
  })

  it.each([
    [
      'a class of another release',
      [],
      /GatewayClass gw belongs to the release gw in the namespace gw-helm: set another gatewayClassName/,
    ],
    [
      'the controller name of another release',
      ['gatewayClassName=other'],
      /controllerName: the release gw in the namespace gw-helm serves .* set another controllerName, such as gw.dev\/other/,
    ],
    [
      'a namespace that does not exist',
      ['watchNamespaces={gw-none}'],
      /watchNamespaces: the namespace gw-none does not/,
    ],
    [
      'a namespace for proxies that does not exist',
      ['networkPolicy.enabled=true', 'networkPolicy.proxyNamespaces={gw-none}'],
      /networkPolicy.proxyNamespaces: the namespace gw-none does not exist: create it first/,
    ],
  ])('rejects %s before it changes anything', async (_, values, message) => {
    const sets = values.flatMap((value) => ['--set', value])
    await expect(helm('install', 'other', 'config/helm/gw', ...sets)).rejects.toThrow(message)
    expect((await helm('list', '-aq')).split('\n')).not.toContain('other')
  })

  it('installs a second release with its own class and controller name', async () => {
    const names = ['--set', 'gatewayClassName=other,controllerName=gw.dev/other']
    await helm('install', 'other', 'config/helm/gw', ...imageValues(), ...names, '--wait', '--timeout', '170s')
    const classes = await list('gatewayclasses')
    expect(classes.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['gw', 'other']))
    await helm('uninstall', 'other', '--wait')
    await until({ url: URL_, host: HOST }, { status: 200 })
  })

  it('changes a setting under traffic', async () => {
    await startLoad({ url: URL_, host: HOST, ratePerSecond: 50, timeoutMs: 10_000 })
    expect(await upgrade('--set', 'controller.logLevel=debug')).toContain('STATUS: deployed')
    const { failed, failures } = await stopLoad()
    expect([failed, failures]).toEqual([0, []])
    const levels = await waitFor('the level of the new controller', async () => {
      const text = await run('bin/gw', ['controller', 'log', '-n', SYSTEM])
      return text.includes('translator: debug') ? text : undefined
    })
    expect(levels).not.toContain(': info')
    await until({ url: URL_, host: HOST }, { status: 200 })
  })

  it('keeps only the CRDs and their objects when it is uninstalled', async () => {
    await remove(themeFile('http'))
    await useSample('auth')
    const before = await get('gwpolicy', NAMESPACE, 'auth')
    await helm('uninstall', 'gw', '--wait')
    await helm('uninstall', 'gw-crds', '--wait')
    expect((await get('gwpolicy', NAMESPACE, 'auth'))?.metadata.uid).toBe(before?.metadata.uid)
    await remove(themeFile('auth'))
    await waitFor('everything of the release to go', async () => {
      const left = await list(KINDS_OF_RELEASE, '-A', '-l', OF_RELEASE)
      const classes = (await list('gatewayclasses')).filter(
        ({ spec }) => spec?.['controllerName'] === 'gw.dev/controller',
      )
      const pods = await list('pods', '-n', SYSTEM)
      return left.length + classes.length + pods.length === 0 ? true : undefined
    })
    await waitFor('what the controller kept for itself to go with its account', async () => {
      const kept = [...(await list('leases', '-n', SYSTEM)), ...(await list('configmaps', '-n', SYSTEM))]
      return kept.every(({ metadata }) => metadata.name === 'kube-root-ca.crt') ? true : undefined
    })
    await waitFor('the proxies to go with their Gateways', async () =>
      (await list('pods', '-A', '-l', 'gateway.networking.k8s.io/gateway-name')).length === 0 ? true : undefined,
    )
    expect((await helm('list', '-q')).trim()).toBe('')
  })
})
