// `make release`: all artifacts of a version in dist/release, and the commands that publish them. Publishes nothing.
//   node hack/release/main.ts [--bundle FOLDER] [--output FOLDER] [--registry REGISTRY] [--key FILE]
//     [--without images|compiled] [--platforms linux/amd64,linux/arm64]
// Needs the bundle (make build), kubectl, and helm or Go. --key: a private key (Ed25519, PEM) that signs checksums and
// provenance. --without compiled: images without compiled code, so that equal inputs give equal digests.
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { VERSION } from '#api/version.ts'
import { PLATFORMS } from '../image/runtime.ts'
import { readDockerfile } from './dockerfile.ts'
import { npmPackage } from './npm-package.ts'
import { writeOciLayout } from './oci-layout.ts'
import { artifactsIn, checksums, provenance, signature } from './statement.ts'

const CHARTS = ['gw', 'gw-crds', 'gw-standalone']
/** Target of the Dockerfile to name of the image. */
const IMAGES = { controller: 'gw-controller', proxy: 'gw' }
/** Of what a command prints. */
const BYTES_MAX = 64 * 1024 * 1024
/** Registries on this machine have no TLS. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1)(?::|\/|$)/

interface PublishedImage {
  readonly image: string
  readonly tag: string
  readonly folder: string
  readonly digest: string
}

const repository = resolve(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    bundle: { type: 'string', default: join(repository, 'dist') },
    output: { type: 'string', default: join(repository, 'dist/release') },
    registry: { type: 'string', default: 'gw.dev' },
    key: { type: 'string', default: process.env['GW_RELEASE_KEY'] ?? '' },
    without: { type: 'string', default: '' },
    platforms: { type: 'string', default: Object.keys(PLATFORMS).join(',') },
  },
})
const { registry, key } = values
const without = new Set(values.without.split(','))
const output = resolve(values.output)
rmSync(output, { recursive: true, force: true })
mkdirSync(join(output, 'charts'), { recursive: true })

const packed = npmPackage({
  repository,
  bundle: resolve(values.bundle),
  version: VERSION,
  folder: join(repository, '.cache/release/npm'),
  to: output,
})
writeFileSync(join(output, 'install.yaml'), `${run('hack/deploy.sh', 'manifest')}\n`)
const helm = run('hack/helm.sh')
run('hack/charts.sh')
for (const chart of CHARTS) packChart(chart)
const images = without.has('images') ? [] : saveImages()
writeStatements()
console.log(commands().join('\n'))

/** The images of a published chart are those of the same registry. */
function packChart(chart: string): void {
  const copy = join(repository, '.cache/release/charts', chart)
  rmSync(copy, { recursive: true, force: true })
  cpSync(join(repository, 'config/helm', chart), copy, { recursive: true })
  const file = join(copy, 'values.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^( +registry: )gw\.dev$/gm, `$1${registry}`))
  run(helm, 'package', copy, '--destination', join(output, 'charts'))
}

/** An OCI image layout for each name, with all platforms. */
function saveImages(): PublishedImage[] {
  const tag = `v${VERSION}`
  const created = new Date(epoch() * 1000).toISOString()
  const contexts = values.platforms.split(',').map((platform) => ({ platform, context: imageContext(platform) }))
  const dockerfile = readFileSync(join(repository, 'images/Dockerfile'), 'utf8')
  const args = { VERSION, REVISION: run('git', 'rev-parse', 'HEAD'), CREATED: created }
  return Object.entries(IMAGES).map(([target, name]) => {
    const config = readDockerfile(dockerfile, target, args)
    const images = contexts.map((context) => ({ ...context, config }))
    const folder = join(output, 'images', name)
    return { image: `${registry}/${name}`, tag, folder, digest: writeOciLayout(folder, images, { tag, created }) }
  })
}

/** Folder with the archives of the layers. */
function imageContext(platform: string): string {
  const suffix = platform.replace('linux/', '')
  const context = join(repository, '.cache/release/images', suffix)
  const args = ['--tool', 'none', '--bundle', resolve(values.bundle), '--output', context, '--platform', platform]
  run(process.execPath, 'hack/image/main.ts', ...args, ...(without.has('compiled') ? ['--without-compiled'] : []))
  mkdirSync(join(output, 'images'), { recursive: true })
  copyFileSync(join(context, 'gw.cdx.json'), join(output, `images/gw-${suffix}.cdx.json`))
  return context
}

/** Of the commit, so that a release depends on its content only. */
function epoch(): number {
  return Number(process.env['SOURCE_DATE_EPOCH'] ?? run('git', 'log', '-1', '--format=%ct'))
}

function writeStatements(): void {
  const names = globSync('**/*.{tgz,gz,yaml,json}', { cwd: output })
  const artifacts = artifactsIn(output, names)
  const published = images.map(({ image, digest }) => ({ name: image, digest: digest.replace('sha256:', '') }))
  const commit = run('git', 'rev-parse', 'HEAD')
  const isClean = run('git', 'status', '--porcelain') === ''
  const statements = {
    SHA256SUMS: checksums(artifacts),
    'provenance.json': provenance([...artifacts, ...published], { version: VERSION, commit, isClean, epoch: epoch() }),
  }
  for (const [name, text] of Object.entries(statements)) {
    writeFileSync(join(output, name), text)
    if (key !== '') writeFileSync(join(output, `${name}.sig`), signature(text, key))
  }
}

function commands(): string[] {
  const isLocal = LOOPBACK.test(registry)
  const charts = globSync('charts/*.tgz', { cwd: output }).toSorted()
  return [
    `${output} has version ${VERSION}. To publish it:`,
    `  npm publish ${join(output, packed)}`,
    ...images.flatMap(({ image, tag, folder, digest }) => [
      `  skopeo copy --all --preserve-digests${isLocal ? ' --dest-tls-verify=false' : ''} oci:${folder}:${tag} docker://${image}:${tag}`,
      `    (${image}@${digest})`,
    ]),
    ...charts.map(
      (chart) => `  helm push${isLocal ? ' --plain-http' : ''} ${join(output, chart)} oci://${registry}/charts`,
    ),
    `  and attach install.yaml, SHA256SUMS and provenance.json${key === '' ? '' : ' with their .sig'} to the release`,
    ...(key === '' ? ['Not signed: --key FILE or GW_RELEASE_KEY names a private key.'] : []),
  ]
}

function run(command: string, ...args: readonly string[]): string {
  const env = {
    ...process.env,
    IMAGE_REGISTRY: registry,
    PATH: `${join(repository, 'node_modules/.bin')}:${process.env['PATH']}`,
  }
  const result = spawnSync(command, args, { cwd: repository, env, encoding: 'utf8', maxBuffer: BYTES_MAX })
  if (result.status === 0) return result.stdout.trim()
  console.error(`release: ${[command, ...args].join(' ')}: ${result.error?.message ?? result.stderr}`)
  return process.exit(1)
}
