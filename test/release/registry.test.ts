// The commands of docs/contributing/releasing.md that need a registry: images and charts of this build go to one on
// loopback, and are found there with the digests that `make release` printed. Only for the platform of this machine.
// @module-tag full
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '#api/version.ts'
import { findHelm } from '#test/chart/helm.ts'
import { commandsFor } from '#test/pages/tested-pages.ts'
import { freePort } from '#test/ports.ts'
import { until } from '#test/wait.ts'

const PAGE = 'docs/contributing/releasing.md'
const ROOT = resolve(import.meta.dirname, '../..')
const TOOLS = join(ROOT, '.cache/tools')
const SETUP_MS = 480_000

const helm = findHelm() ?? ''
const hasTools = helm !== '' && ['go', 'skopeo', 'jq'].every((name) => spawnSync('which', [name]).status === 0)
if (!hasTools) console.log('skipped: no helm (hack/helm.sh builds one), go, jq or skopeo (apt-get install skopeo)')

const folder = mkdtempSync(join(tmpdir(), 'gw-registry-'))
const release = join(folder, 'release')
const onPage = commandsFor('test/release/registry.test.ts', PAGE)
const ran = new Set<string>()
let registry: ChildProcess | undefined
let port: number
let printed = ''

/** The command of the page that contains the text, for the registry and the files of the test. */
function command(text: string): string {
  const found = onPage.find((one) => one.command.includes(text))?.command
  if (found === undefined) throw new Error(`${PAGE} has no command with ${text}`)
  ran.add(found)
  return found
    .replaceAll('registry.example/gw', `127.0.0.1:${port}/gw`)
    .replaceAll('127.0.0.1:5000', `127.0.0.1:${port}`)
    .replaceAll('dist/release/', `${release}/`)
    .replaceAll('release.pem', join(folder, 'release.pem'))
    .replace('skopeo inspect', 'skopeo inspect --tls-verify=false')
    .replace(/linux\/arm64/, `linux/${platform()}`)
}

function platform(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch
}

/** Standard output. */
function inShell(text: string, cwd = ROOT): string {
  const path = `${TOOLS}:${join(folder, 'bin')}:${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`
  const env = { ...process.env, PATH: path, GOBIN: TOOLS, CGO_ENABLED: '0' }
  return execFileSync('bash', ['-c', text], { cwd, env, encoding: 'utf8', stdio: 'pipe' })
}

function make(): string {
  const bundle = join(folder, 'bundle')
  inShell(`rolldown --config rolldown.config.ts --dir ${bundle}`)
  inShell(`openssl genpkey -algorithm ed25519 -out ${join(folder, 'release.pem')}`)
  const recipe = inShell(command('make release').replace('make ', 'make --no-print-directory -n '))
  const args = `--bundle ${bundle} --output ${release} --platforms linux/${platform()} --without compiled`
  return inShell(`${recipe.trim().split('\n').at(-1) ?? ''} ${args}`)
}

beforeAll(async () => {
  if (!hasTools) return
  port = await freePort()
  mkdirSync(join(folder, 'bin'))
  inShell(`ln -s ${helm} ${join(folder, 'bin/helm')}`)
  inShell(command('go install'))
  const [program = '', ...args] = command('registry serve').replace(/ &$/, '').split(' ')
  registry = spawn(join(TOOLS, program), args, { stdio: 'ignore' })
  await until('the registry', () =>
    fetch(`http://127.0.0.1:${port}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  printed = make()
  inShell(command('publish.sh images'))
}, SETUP_MS)

afterAll(() => {
  registry?.kill()
  rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(!hasTools)('a release in a registry', () => {
  it('has images with the digest that make release printed', () => {
    const digest = inShell(command('crane digest 127')).trim()
    expect(printed).toContain(`127.0.0.1:${port}/gw/gw:v${VERSION} (${digest})`)
  })

  it('has charts with the bytes of the release', () => {
    inShell(command('helm pull'), folder)
    const [pulled, made] = [folder, join(release, 'charts')].map((place) =>
      readFileSync(join(place, `gw-${VERSION}.tgz`)),
    )
    expect(pulled?.equals(made ?? Buffer.alloc(0))).toBe(true)
  })

  it('has images whose digest is that of the signed provenance', () => {
    const [proven = '', found = ''] = ['jq ', 'skopeo inspect'].map((text) => inShell(command(text), release).trim())
    expect(proven).toMatch(/^[0-9a-f]{64}$/)
    expect(found).toBe(`${proven}  -`)
  })

  it('has a bill of materials beside the image of the platform', () => {
    const digest = inShell(`${command('digest=')}; echo $digest`).trim()
    const attested = `127.0.0.1:${port}/gw/gw:${digest.replace(':', '-')}.att`
    const { layers } = JSON.parse(inShell(`crane manifest ${attested}`))
    expect(layers[0].annotations.predicateType).toBe('https://cyclonedx.org/bom')
  })

  it('was made with all commands of the page', () => {
    expect(onPage.map((one) => one.command).filter((text) => !ran.has(text))).toEqual([])
  })
})
