// The content of the images, without a container engine: the archives from which the Dockerfile builds them. Size,
// user, entry point, no shell, and a bill of materials with the content of the bundle.
// @module-tag full
import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UI_FOLDERS } from '#api/admin/ui-files.ts'
import { RUN_AS_USER } from '#api/delivery/pod-contract.ts'
import { VERSION } from '#api/version.ts'
import { fakeTools } from './fake-tools.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SETUP_MS = 240_000
const RUN_MS = 60_000
const BYTES_MAX = 150 * 1000 * 1000

interface Component {
  readonly type: string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: readonly unknown[]
}

const folder = mkdtempSync(join(tmpdir(), 'gw-image-'))
const bundle = join(folder, 'bundle')
const output = join(folder, 'image')
const root = join(folder, 'root')
let components: readonly Component[] = []
let dockerfile = ''

beforeAll(() => {
  const rolldown = join(ROOT, 'node_modules/.bin/rolldown')
  execFileSync(rolldown, ['--config', 'rolldown.config.ts', '--dir', bundle], { cwd: ROOT, stdio: 'pipe' })
  const tools = fakeTools(join(folder, 'bin'), ['docker'])
  const args = ['hack/image/main.ts', '--bundle', bundle, '--output', output]
  execFileSync(process.execPath, args, { cwd: ROOT, env: { ...process.env, PATH: tools.path }, stdio: 'pipe' })
  mkdirSync(root)
  for (const name of ['base', 'app', 'compiled']) execFileSync('tar', ['-xpf', join(output, `${name}.tar`), '-C', root])
  components = JSON.parse(readFileSync(join(root, 'usr/share/sbom/gw.cdx.json'), 'utf8')).components
  dockerfile = readFileSync(join(output, 'Dockerfile'), 'utf8')
}, SETUP_MS)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** name@version of each package in a source map of the bundle, from the installed packages. */
function bundledPackages(): string[] {
  const found = new Set<string>()
  for (const map of globSync(join(bundle, '*.js.map'))) {
    const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] } // a source map
    for (const source of sources) {
      const place = /(node_modules\/.*node_modules\/|node_modules\/)(@[^/]+\/[^/]+|[^/]+)\//.exec(source)
      if (place === null) continue
      const { name, version } = JSON.parse(readFileSync(join(ROOT, place[0], 'package.json'), 'utf8'))
      found.add(`${name}@${version}`)
    }
  }
  return [...found].sort()
}

describe('an image', () => {
  it('starts from scratch and runs no command during the build', () => {
    expect(dockerfile).toMatch(/^FROM scratch AS base$/m)
    expect(dockerfile.match(/^FROM (?!scratch|base).*$/gm)).toBeNull()
    expect(dockerfile.match(/^(RUN|COPY --from|ADD https?:).*$/gm)).toBeNull()
  })

  it('runs as the numeric user that pods set', () => {
    expect(dockerfile.match(/^USER .*$/gm)).toEqual([`USER ${RUN_AS_USER}:${RUN_AS_USER}`])
    expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).toContain(`:${RUN_AS_USER}:${RUN_AS_USER}:`)
  })

  it('starts the command without a shell', () => {
    const [, entry = ''] = /^ENTRYPOINT (\[.*\/app\/gw\.js"\])$/m.exec(dockerfile) ?? []
    const [node = '', ...args] = JSON.parse(entry) as string[] // an entry point in its exec form
    for (const file of [node, args.at(-1) ?? '']) expect(existsSync(join(root, file))).toBe(true)
    // Without it SSL_CERT_FILE would have no effect.
    expect(args).toContain('--use-system-ca')
    expect(dockerfile).toMatch(/AS controller\n[^]*?CMD \["controller"\]/)
  })

  it('is smaller than 150 MB', () => {
    const bytes = ['base', 'app'].map((name) => statSync(join(output, `${name}.tar`)).size)
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(BYTES_MAX)
  })

  it('has no shell, no package manager, no other program, and no setuid file', () => {
    const list = execFileSync('tar', ['-tvf', join(output, 'base.tar')], { encoding: 'utf8' })
      .trim()
      .split('\n')
    const programs = list.filter((line) => /^-..[xs]/.test(line)).map((line) => line.split(/\s+/)[5] ?? '')
    expect(programs.filter((name) => !/\.so(\.|$)/.test(name))).toEqual(['usr/local/bin/node'])
    expect(list.filter((line) => /^-.{2}s|^-.{5}s/.test(line))).toEqual([])
    expect(list.filter((line) => /^.{8}w/.test(line)).map((line) => line.split(/\s+/)[5])).toEqual(['tmp/'])
    expect(list.every((line) => line.split(/\s+/)[1] === '0/0')).toBe(true)
    expect(globSync(join(root, '**/{sh,bash,busybox,apt,dpkg,npm,npx,corepack}'))).toEqual([])
  })

  /** As the user of the image, where this process may change its user; without the compiled code of the test run. */
  const gw = (...args: string[]): SpawnSyncReturns<string> => {
    const env = { ...process.env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', NODE_COMPILE_CACHE: undefined }
    const flags = ['--disable-warning=ExperimentalWarning', '--use-system-ca']
    return process.getuid?.() === 0
      ? spawnSync(
          'chroot',
          [`--userspec=${RUN_AS_USER}:${RUN_AS_USER}`, root, '/usr/local/bin/node', ...flags, '/app/gw.js', ...args],
          { encoding: 'utf8', env },
        )
      : spawnSync(process.execPath, [...flags, join(root, 'app/gw.js'), ...args], { encoding: 'utf8', env })
  }

  it('prints its version, with only its own files', { timeout: RUN_MS }, () => {
    expect(gw('version').stdout).toContain(VERSION)
  })

  it('has compiled code of every module of the bundle', () => {
    const [folder = '', ...others] = readdirSync(join(root, 'app/.compiled'))
    expect(others).toEqual([])
    expect(folder).toMatch(new RegExp(`^${process.version}-.*-${RUN_AS_USER}$`))
    const scripts = globSync(join(root, 'app/*.js'))
    // The command is loaded before, with the module that enables compiled code.
    const compiled = readdirSync(join(root, 'app/.compiled', folder))
    expect(compiled.length).toBeGreaterThanOrEqual(scripts.length - 2)
  })

  it.runIf(process.getuid?.() === 0)('starts with compiled code as its own user', { timeout: RUN_MS }, () => {
    expect(gw('version').stderr).toMatch(/V8 code cache for ESM \S+program-\S+ was accepted/)
  })

  it('has the web UIs of proxy and controller', () => {
    for (const folderName of UI_FOLDERS) {
      const names = readdirSync(join(root, 'app', folderName), { recursive: true })
      expect(names).toEqual(expect.arrayContaining(['index.html', 'assets/app.js', 'assets/style.css']))
    }
  })

  it('has no source maps, no sources, no tests', () => {
    expect(globSync(join(root, 'app/**/*.{map,ts}'))).toEqual([])
  })
})

/** The package of Node for one platform, unlike packages such as `node-fetch`. */
const RUNTIME = /^node-(?:linux|darwin)-/

describe('its bundle', () => {
  it('imports no module of Node with costly exports', () => {
    const importing = globSync(join(bundle, '*.js')).filter((file) =>
      /from "(?:node:)?(?:http|tls)"/.test(readFileSync(file, 'utf8')),
    )
    expect(importing).toEqual([])
  })
})

describe('its bill of materials', () => {
  const ofKind = (kind: string): string[] =>
    components.filter(({ purl }) => purl.startsWith(`pkg:${kind}/`)).map(({ name, version }) => `${name}@${version}`)

  it('is CycloneDX, of this version', () => {
    const bill = JSON.parse(readFileSync(join(root, 'usr/share/sbom/gw.cdx.json'), 'utf8'))
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 })
    expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(bill.metadata.component).toMatchObject({ name: 'gw', version: VERSION })
    expect(readFileSync(join(output, 'gw.cdx.json'), 'utf8')).toBe(
      readFileSync(join(root, 'usr/share/sbom/gw.cdx.json'), 'utf8'),
    )
  })

  it('lists only the packages of the bundle in their installed versions, and the runtime', () => {
    const runtime = ofKind('npm').filter((name) => RUNTIME.test(name))
    expect(runtime).toEqual([expect.stringMatching(new RegExp(`^node-\\w+-\\w+@${process.versions.node}`))])
    expect(ofKind('npm').filter((name) => !runtime.includes(name))).toEqual(bundledPackages())
    expect(bundledPackages()).toEqual(expect.arrayContaining([expect.stringMatching(/^effect@/)]))
  })

  it('names the source of each system library', () => {
    const libraries = globSync(join(root, '{lib,lib64,usr/lib}/**/*.so*'))
    expect(libraries.length).toBeGreaterThan(3)
    expect(components.length).toBeGreaterThan(ofKind('npm').length)
    for (const { name, version, purl } of components) {
      expect([name, version, purl]).toEqual([
        expect.stringMatching(/./),
        expect.stringMatching(/./),
        expect.stringMatching(/^pkg:/),
      ])
    }
  })

  it('has the licence of each package beside it', () => {
    const texts = readFileSync(join(root, 'usr/share/doc/gw/LICENSES-OF-PACKAGES'), 'utf8')
    const names = ofKind('npm').map((one) => one.slice(0, one.lastIndexOf('@')))
    expect(names.filter((name) => !RUNTIME.test(name) && !texts.includes(`${name}\n\n`))).toEqual([])
    expect(existsSync(join(root, 'usr/share/doc/gw/LICENSE'))).toBe(true)
  })
})
