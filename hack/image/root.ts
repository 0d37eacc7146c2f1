// The root file system of the images, in three archives: what changes with the runtime (base.tar), what changes with
// the code (app.tar), and its compiled code (compiled.tar). Equal inputs give equal archives, byte for byte, except for
// the compiled code: V8 does not write it in the same order each time, and it fits the processor of the build.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UI_FOLDERS } from '#api/admin/ui-files.ts'
import type { Runtime } from './runtime.ts'

/** User and group of the processes; the deployer's default says the same number. */
const USER_ID = 10_101

/** Where cli/main.ts looks for it, beside the bundle. */
const COMPILED = '.compiled'

export const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt'

export interface BaseOptions {
  /** Folder that becomes `/`; must not exist. */
  readonly root: string
  readonly runtime: Runtime
}

export interface AppOptions {
  readonly root: string
  readonly bundle: string
  readonly repository: string
  /** Package folder of the runtime, for its licence. */
  readonly runtime: string
  readonly sbom: string
  /** Licences of the packages in the bundle. */
  readonly licences: string
}

/** Fills `root` with the runtime and the authorities of this machine. */
export function layBase({ root, runtime: { node, libraries, isOwn } }: BaseOptions): void {
  put(node, join(root, 'usr/local/bin/node'), 0o755)
  // The program of this machine knows only files of its own platform.
  if (isOwn) strip(join(root, 'usr/local/bin/node'))
  for (const [place, file] of libraries) put(file, join(root, place), 0o755)
  if (!existsSync(AUTHORITIES)) throw new Error(`${AUTHORITIES} is missing: install ca-certificates`)
  put(AUTHORITIES, join(root, AUTHORITIES), 0o644)
  write(join(root, 'etc/passwd'), `root:x:0:0::/:/none\ngw:x:${USER_ID}:${USER_ID}::/app:/none\n`)
  write(join(root, 'etc/group'), `root:x:0:\ngw:x:${USER_ID}:\n`)
  write(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n')
  mkdirSync(join(root, 'tmp'), { recursive: true })
  chmodSync(join(root, 'tmp'), 0o1777)
}

/** Fills `root` with the bundle, without source maps, licences and the SBOM. */
export function layApp({ root, bundle, repository, runtime, sbom, licences }: AppOptions): void {
  const scripts = readdirSync(bundle).filter((name) => name.endsWith('.js'))
  for (const name of scripts) put(join(bundle, name), join(root, 'app', name), 0o644)
  for (const name of UI_FOLDERS) cpSync(join(bundle, name), join(root, 'app', name), { recursive: true })
  write(join(root, 'app/package.json'), '{ "type": "module" }\n')
  put(join(repository, 'LICENSE'), join(root, 'usr/share/doc/gw/LICENSE'), 0o644)
  write(join(root, 'usr/share/doc/gw/LICENSES-OF-PACKAGES'), licences)
  put(join(runtime, 'LICENSE'), join(root, 'usr/share/doc/node/LICENSE'), 0o644)
  write(join(root, 'usr/share/sbom/gw.cdx.json'), sbom)
}

/** Fills `root` with the compiled code of `app`, a root with the bundle. Where it does not fit, Node ignores it. */
export function layCompiled({ root, app }: { readonly root: string; readonly app: string }): void {
  const env = { PATH: process.env['PATH'] }
  const script = join(import.meta.dirname, 'compile.ts')
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', script, join(app, 'app')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const written = join(app, 'app', COMPILED)
  const target = join(root, 'app', COMPILED)
  for (const name of readdirSync(written)) {
    // Node names the folder after the user as well; its files can be read by this user only.
    const place = name.replace(/-\d+$/, `-${USER_ID}`)
    for (const file of readdirSync(join(written, name))) {
      put(join(written, name, file), join(target, place, file), 0o644)
    }
  }
  rmSync(written, { recursive: true })
}

/** GNU tar with everything that differs between machines and runs set to one value. */
export function archive(root: string, file: string, epoch: number, more: readonly string[] = []): void {
  const fixed = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']
  const names = readdirSync(root).sort()
  execFileSync('tar', [...fixed, ...more, '-C', root, '-cf', file, ...names], { stdio: 'inherit' })
}

/** Symbols are a seventh of the runtime. Where binutils are missing the image is larger, nothing else. */
function strip(program: string): void {
  try {
    execFileSync('strip', [program], { stdio: 'pipe' })
  } catch (error) {
    console.error(`image: not stripped: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function put(from: string, to: string, mode: number): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  chmodSync(to, mode)
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, 0o644)
}
