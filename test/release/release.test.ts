// What `make release` makes, as its users get it: the npm package in an empty folder without a registry, the manifest,
// the charts, and signatures that openssl verifies. Without images, which test/image checks.
// @module-tag full
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { UI_FOLDERS } from '#api/admin/ui-files.ts'
import { VERSION } from '#api/version.ts'
import { findHelm } from '#test/chart/helm.ts'
import { findKubectl } from '#test/find-kubectl.ts'
import { commandsFor } from '#test/pages/tested-pages.ts'
import { freePort } from '#test/ports.ts'
import { until } from '#test/wait.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SETUP_MS = 240_000
const RUN_MS = 60_000

const kubectl = findKubectl() ?? ''
const hasTools = kubectl !== '' && findHelm() !== undefined
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
  const recipe = inShell(command('make release').replace('make ', 'make -n '), ROOT).trim().split('\n').at(-1) ?? ''
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
    const steps = ['sha256sum', '-in SHA256SUMS', '-in provenance.json', 'jq '].map(command)
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
      `gw-${VERSION}.tgz: OK`,
      'install.yaml: OK',
    ])
    const { subject, predicate } = JSON.parse(readFileSync(join(release, 'provenance.json'), 'utf8'))
    expect(subject).toHaveLength(5)
    const [{ digest }] = predicate.buildDefinition.resolvedDependencies
    expect(digest.gitCommit).toMatch(/^[0-9a-f]{40}$/)
    for (const name of ['SHA256SUMS', 'provenance.json']) {
      const key = ['-pubin', '-inkey', join(folder, 'public.pem')]
      const files = ['-rawin', '-in', name, '-sigfile', `${name}.sig`]
      expect(
        execFileSync('openssl', ['pkeyutl', '-verify', ...key, ...files], { cwd: release, encoding: 'utf8' }),
      ).toBe('Signature Verified Successfully\n')
    }
  })

  it('says what to publish', () => {
    expect(printed).toContain(`npm publish ${release}/gw-${VERSION}.tgz\n`)
    expect(printed).toContain(`helm push ${release}/charts/gw-${VERSION}.tgz oci://registry.example/gw/charts\n`)
    expect(printed).not.toContain('Not signed')
  })
})
