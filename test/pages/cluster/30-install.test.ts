// docs/install.md: each way to install Gw, to change the installation and to remove it, in the cluster of the page.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '#api/version.ts'
import { ROOT } from '#test/cli/gw.ts'
import { kubectl } from '../../e2e/suite/kubectl.ts'
import { yamlOf } from '../page-commands.ts'
import { commandsFor } from '../tested-pages.ts'
import { openTerminal, useCluster } from './terminal.ts'

const TEST = 'test/pages/cluster/30-install.test.ts'
const ON_PAGES = ['docs/install.md', 'docs/contributing/releasing.md'].flatMap((page) => commandsFor(TEST, page))
const READY = 'kubectl rollout status -n gw-system deployment/gw-controller --timeout=170s'
const OTHER_RELEASE = 'helm uninstall edge -n edge-system --wait'

const terminal = openTerminal()
const release = join(terminal.folder, 'release')
const ran = new Set<string>()

beforeAll(async () => {
  await useCluster()
  writeFileSync(join(terminal.folder, 'values.yaml'), yamlOf('docs/install.md', 'networkPolicy:'))
  const args = ['--bundle', 'dist', '--output', release, '--without', 'images', '--registry', 'gw.dev']
  execFileSync(process.execPath, ['hack/release/main.ts', ...args], { cwd: ROOT, stdio: 'pipe' })
})

afterAll(() => terminal.end())

/** The command of the page that is the text, else the last one that contains it. */
function fromPage(text: string): string {
  const commands = ON_PAGES.map(({ command }) => command)
  const found = commands.find((command) => command === text) ?? commands.findLast((command) => command.includes(text))
  if (found === undefined) throw new Error(`no page has a command with ${text}`)
  ran.add(found)
  return found
}

/** Runs commands of pages in the order of the texts, and commands of the test, which begin with `test: `. */
async function run(...texts: readonly string[]): Promise<void> {
  const own = 'test: '
  await terminal.run(texts.map((text) => (text.startsWith(own) ? text.slice(own.length) : withFiles(fromPage(text)))))
}

function withFiles(command: string): string {
  return command
    .replace('values.yaml', join(terminal.folder, 'values.yaml'))
    .replace(/(?:\/path\/to\/dist\/release\/)?install\.yaml/, join(release, 'install.yaml'))
    .replace('oci://registry.example/gw/charts/gw ', `${join(release, `charts/gw-${VERSION}.tgz`)} `)
}

async function isInstalled(): Promise<boolean> {
  return (await kubectl(['get', 'deployment', '-n', 'gw-system', '-o', 'name', '--ignore-not-found'])) !== ''
}

describe('docs/install.md', () => {
  it('closes ports of an installation, and removes it', async () => {
    await run('config/overlays/network-policy', `test: ${READY}`, 'kubectl delete gateways -n demo', 'make undeploy')
    expect(await isInstalled()).toBe(false)
  })

  it.each(['config/default', 'config/overlays/namespaced'])('installs %s', async (folder) => {
    await run(`-k ${folder}`, `test: ${READY}`, 'make undeploy')
    expect(await isInstalled()).toBe(false)
  })

  it('installs with Helm, beside another release, and upgrades', async () => {
    await run('make charts', 'make install-crds', 'helm install gw-crds')
    await run('helm install gw config/helm/gw -n gw-system', `test: ${READY}`, 'helm uninstall gw -n')
    await run('helm install gw config/helm/gw -n gw-system --wait')
    await run('helm install edge', `test: ${OTHER_RELEASE}`)
    await run('test: kubectl create namespace shop; kubectl create namespace blog')
    await run(
      'helm upgrade gw-crds',
      '-f values.yaml --wait',
      'helm upgrade gw config/helm/gw -n gw-system -f values.yaml',
    )
    expect(await kubectl(['get', 'networkpolicies', '-n', 'blog', '-o', 'name'])).not.toBe('')
  })

  it('installs with Helm and rights in single namespaces, and removes it', async () => {
    await run('helm uninstall gw -n', 'watchNamespaces', `test: ${READY}`)
    expect(await kubectl(['get', 'rolebindings', '-n', 'blog', '-o', 'name'])).not.toBe('')
    await run('helm uninstall gw -n', 'helm uninstall gw-crds', 'kubectl delete -k config/crd')
    expect(await kubectl(['get', 'crd', '-o', 'name'])).not.toContain('gw.dev')
  })

  it('installs the artifacts of a release', async () => {
    await run('dist/release/install.yaml', `test: ${READY}`, `test: kubectl delete -f ${release}/install.yaml`)
    await run('-f install.yaml', `test: ${READY}`, `test: kubectl delete -f ${release}/install.yaml`)
    await run('oci://')
    expect(await isInstalled()).toBe(true)
    await run('helm uninstall gw -n')
  })

  it('builds images with names for a registry', async () => {
    await run('make images', 'make images IMAGE_REGISTRY')
    const names = execFileSync('docker', ['images', '--format', '{{.Repository}}:{{.Tag}}'], { encoding: 'utf8' })
    expect(names).toMatch(/^registry\.example\/gw\/gw:v1$/m)
  })

  it('removes the cluster', async () => {
    await run('make kind-down')
    await expect(kubectl(['get', 'nodes'])).rejects.toThrow('kubectl get nodes')
  })

  it('ran every command of the pages', () => {
    expect(ON_PAGES.map(({ command }) => command).filter((command) => !ran.has(command))).toEqual([])
  })
})
