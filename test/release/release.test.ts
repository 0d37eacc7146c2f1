// What `make release` makes, as its users get it: the npm package in an empty folder without a registry, the manifest,
// the charts, and signatures that openssl verifies. Without images, which test/image checks.
// @module-tag full
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { UI_FOLDERS } from '#api/admin/ui-files.ts'
import { VERSION } from '#api/version.ts'
import { findHelm } from '#test/chart/helm.ts'
import { findKubectl } from '#test/find-kubectl.ts'
import { commandsFor } from '#test/pages/tested-pages.ts'
import { freePort } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { packChart } from '../../hack/release/charts.ts'
import { npmRegistry } from './npm-registry.testing.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SETUP_MS = 240_000
const RUN_MS = 60_000

const kubectl = findKubectl() ?? ''
const helm = findHelm() ?? ''
const hasTools = kubectl !== '' && helm !== ''
if (!hasTools) console.log('skipped: no helm (hack/helm.sh builds one) or no kubectl (GW_KUBECTL names one)')

const folder = mkdtempSync(join(tmpdir(), 'gw-release-'))
const release = join(folder, 'release')
const user = join(folder, 'user')
let printed = ''

beforeAll(() => {
  if (!hasTools) return
  const bundle = join(folder, 'bundle')
  const rolldown = join(ROOT, 'node_modules/.bin/rolldown')
  execFileSync(rolldown, ['--config', 'rolldown.config.ts', '--dir', bundle], { cwd: ROOT, stdio: 'pipe' })
  inShell(command('openssl genpkey'), folder)
  inShell(`openssl pkey -in release.pem -pubout -out public.pem`, folder)
  // What `make release` of the page runs after the build.
  const recipe =
    inShell(command('make release').replace('make ', 'make --no-print-directory -n '), ROOT)
      .trim()
      .split('\n')
      .at(-1) ?? ''
  const args = `--bundle ${bundle} --output ${release} --without images`
  printed = inShell(`${recipe.replace('release.pem', join(folder, 'release.pem'))} ${args}`, ROOT)
  mkdirSync(user)
  writeFileSync(join(user, 'package.json'), '{ "private": true }\n')
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(release, `gw-${VERSION}.tgz`)]
  execFileSync('npm', install, { cwd: user, env: userEnvironment(), stdio: 'pipe' })
}, SETUP_MS)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const onPage = commandsFor('test/release/release.test.ts', 'docs/contributing/releasing.md')
const ran = new Set<string>()

/** The command of docs/contributing/releasing.md that contains the text. */
function command(text: string): string {
  const found = onPage.find((one) => one.command.includes(text))?.command
  if (found === undefined) throw new Error(`the page has no command with ${text}`)
  ran.add(found)
  return found
}

/** Standard output. */
function inShell(text: string, cwd: string, env: NodeJS.ProcessEnv = {}): string {
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`
  const all = { ...process.env, KUBECTL: kubectl, PATH: path, ...env }
  return execFileSync('bash', ['-c', text], { cwd, env: all, encoding: 'utf8', stdio: 'pipe' })
}

/** Another home, and the Node of this repository, which is the one that the package requires. */
function userEnvironment(): NodeJS.ProcessEnv {
  return { PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`, HOME: join(folder, 'home') }
}

describe.skipIf(!hasTools)('the npm package', () => {
  it('runs without other packages', () => {
    const gw = join(user, 'node_modules/.bin/gw')
    expect(execFileSync(gw, ['version'], { cwd: user, env: userEnvironment(), encoding: 'utf8' })).toContain(VERSION)
    expect(execFileSync('ls', ['node_modules'], { cwd: user, encoding: 'utf8' })).toBe('gw\n')
  })

  it('has the web UIs of proxy and controller', () => {
    const files = readdirSync(join(user, 'node_modules/gw/lib'), { recursive: true })
    expect(files).toEqual(expect.arrayContaining(UI_FOLDERS.map((name) => `${name}/assets/app.js`)))
  })

  it(
    'serves a standalone file, and ends with its terminal',
    async () => {
      const port = await freePort()
      const route = '{ policies: { directResponse: { status: 200, body: it works } } }'
      writeFileSync(join(user, 'gw.yaml'), `binds:\n- port: ${port}\n  listeners:\n  - routes:\n    - ${route}\n`)
      const any = '127.0.0.1:0'
      const addresses = { ADMIN_ADDR: any, STATS_ADDR: any, READINESS_ADDR: any }
      const options = { cwd: user, env: { ...userEnvironment(), ...addresses } }
      const gw = spawn(join(user, 'node_modules/.bin/gw'), ['run', '-f', 'gw.yaml'], { ...options, stdio: 'pipe' })
      const ended = new Promise((done) => void gw.on('exit', (code, signal) => done(code ?? signal)))
      let log = ''
      for (const stream of [gw.stdout, gw.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()))
      await until('an answer', async () => {
        const text = await fetch(`http://127.0.0.1:${port}/`).then(
          (response) => response.text(),
          () => log,
        )
        return text === 'it works'
      })
      gw.kill('SIGINT')
      expect(await ended).toBe(0)
    },
    RUN_MS,
  )
})

describe.skipIf(!hasTools)('the commands of docs/contributing/releasing.md', () => {
  it('install the package and run it', () => {
    const steps = [command('npm install'), command('npx gw version')].join('\n')
    expect(inShell(steps.replace('/path/to/dist/release', release), folder, userEnvironment())).toContain(VERSION)
  })

  it('verify a download', () => {
    const steps = ['sha256sum', '-in SHA256SUMS', '-in provenance.json'].map(command)
    const text = inShell(steps.join('\n').replaceAll('public.pem', join(folder, 'public.pem')), release)
    expect(text.match(/Signature Verified Successfully/g)).toHaveLength(2)
    expect(text).toContain('install.yaml: OK')
  })

  it('were all run', () => {
    expect(onPage.map((one) => one.command).filter((text) => !ran.has(text))).toEqual([])
  })
})

describe.skipIf(!hasTools)('the release', () => {
  it('has one manifest with the images of the registry', () => {
    const text = readFileSync(join(release, 'install.yaml'), 'utf8')
    const kinds = parseAllDocuments(text).map((document) => document.get('kind'))
    expect(kinds.filter((kind) => kind === 'CustomResourceDefinition')).toHaveLength(4)
    expect(kinds).toContain('Deployment')
    expect(text).toContain(`image: registry.example/gw/gw-controller:v${VERSION}`)
    expect(text).toMatch(/name: GW_PROXY_IMAGE_REGISTRY\n\s+value: registry.example\/gw/)
  })

  it('has charts with the images of the registry', () => {
    for (const chart of ['gw', 'gw-standalone']) {
      const archive = join(release, `charts/${chart}-${VERSION}.tgz`)
      const values = execFileSync('tar', ['-xzOf', archive, `${chart}/values.yaml`], { encoding: 'utf8' })
      expect(values).toContain('registry: registry.example/gw\n')
      expect(values).not.toMatch(/registry: gw\.dev$/m)
    }
  })

  it('has checksums and a provenance that belong to the files and the key', () => {
    const check = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: release, encoding: 'utf8' })
    expect(check.trim().split('\n')).toEqual([
      `charts/gw-${VERSION}.tgz: OK`,
      `charts/gw-crds-${VERSION}.tgz: OK`,
      `charts/gw-standalone-${VERSION}.tgz: OK`,
      'gateway-api.yaml: OK',
      `gw-${VERSION}.tgz: OK`,
      'install.yaml: OK',
    ])
    const { subject, predicate } = JSON.parse(readFileSync(join(release, 'provenance.json'), 'utf8'))
    expect(subject).toHaveLength(9)
    const [{ digest }] = predicate.buildDefinition.resolvedDependencies
    expect(digest.gitCommit).toMatch(/^[0-9a-f]{40}$/)
    for (const name of ['SHA256SUMS', 'provenance.json']) {
      const key = ['-pubin', '-inkey', 'public.pem']
      const files = ['-rawin', '-in', name, '-sigfile', `${name}.sig`]
      expect(
        execFileSync('openssl', ['pkeyutl', '-verify', ...key, ...files], { cwd: release, encoding: 'utf8' }),
      ).toBe('Signature Verified Successfully\n')
    }
  })

  it('has the CRDs of the Gateway API, which `install.yaml` needs', () => {
    const names = parseAllDocuments(readFileSync(join(release, 'gateway-api.yaml'), 'utf8')).map((document) =>
      document.getIn(['metadata', 'name']),
    )
    expect(names).toEqual(expect.arrayContaining(['gatewayclasses', 'gateways', 'httproutes'].map(ofGatewayApi)))
  })

  it('has charts whose bytes and digests depend on their content only', () => {
    const options = {
      source: join(ROOT, 'config/helm/gw'),
      name: 'gw',
      registry: 'registry.example/gw',
      cache: mkdtempSync(join(folder, 'cache-')),
      output: mkdtempSync(join(folder, 'charts-')),
      epoch: Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' })),
      helm: (...args: readonly string[]) => void execFileSync(helm, args, { stdio: 'pipe' }),
    }
    const umask = process.umask(0o077)
    const { digest } = packChart(options)
    process.umask(umask)
    const { manifests } = JSON.parse(readFileSync(join(release, 'charts/gw/index.json'), 'utf8'))
    expect(manifests[0]).toMatchObject({ digest, annotations: { 'org.opencontainers.image.ref.name': VERSION } })
    const [one, other] = [options.output, join(release, 'charts')].map((place) => join(place, `gw-${VERSION}.tgz`))
    execFileSync('cmp', [one ?? '', other ?? ''])
    execFileSync(helm, ['lint', one ?? ''], { stdio: 'pipe' })
  })

  it('prints what is missing, and how to publish', () => {
    expect(printed).toContain('Make the images of linux/amd64, linux/arm64')
    expect(printed).not.toContain('Sign:')
    expect(printed).toContain(`2. Run ${release}/publish.sh, which publishes, with signatures,\n`)
    expect(printed).toMatch(/ registry\.example\/gw\/charts\/gw:[\d.]+ \(sha256:[0-9a-f]{64}\)\n/)
    for (const file of ['SHA256SUMS', 'SHA256SUMS.sig', 'gateway-api.yaml', 'install.yaml', 'public.pem']) {
      expect(printed).toContain(`     ${release}/${file}\n`)
    }
  })
})

describe.skipIf(!hasTools)('a published release', () => {
  it(
    'is installed and run by npx from a registry, with the bytes of the release',
    async () => {
      const registry = await npmRegistry()
      try {
        // As npm login writes it.
        const home = mkdtempSync(join(folder, 'publisher-'))
        writeFileSync(join(home, '.npmrc'), `registry=${registry.url}\n//${new URL(registry.url).host}/:_authToken=a\n`)
        const environment = { ...userEnvironment(), HOME: home }
        const npm = (command: string, ...args: readonly string[]): Promise<{ readonly stdout: string }> =>
          promisify(execFile)(command, args, { cwd: home, env: environment, encoding: 'utf8' })
        await npm('npm', 'publish', join(release, `gw-${VERSION}.tgz`))
        expect(registry.published()).toEqual(readFileSync(join(release, `gw-${VERSION}.tgz`)))
        expect((await npm('npx', '--yes', 'gw', 'version')).stdout).toContain(VERSION)
        expect((await npm('npx', '--yes', `gw@${VERSION}`, 'run', '--help')).stdout).toContain('--file')
      } finally {
        registry.close()
      }
    },
    RUN_MS,
  )
})

function ofGatewayApi(name: string): string {
  return `${name}.gateway.networking.k8s.io`
}
