// `make release`: all artifacts of a version in dist/release, and the commands that publish them. Publishes nothing.
//   node hack/release/main.ts [--bundle FOLDER] [--output FOLDER] [--registry REGISTRY] [--key FILE] [--without images]
//     [--platforms linux/amd64,linux/arm64]
// Needs the bundle (make build); kubectl, helm or Go, and for images a container tool. --key: a private key (Ed25519,
// PEM) that signs checksums and provenance.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { VERSION } from '#api/version.ts'
import { PLATFORMS } from '../image/runtime.ts'
import { npmPackage } from './npm-package.ts'
import { artifactsIn, checksums, provenance, signature } from './statement.ts'

const CHARTS = ['gw', 'gw-crds', 'gw-standalone']
const IMAGES = ['gw-controller', 'gw']
/** Of what a command prints; of one image. */
const BYTES_MAX = 1024 * 1024 * 1024

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
for (const chart of CHARTS) run(helm, 'package', join('config/helm', chart), '--destination', join(output, 'charts'))
const publishing = values.without === 'images' ? [] : saveImages()
writeStatements()
console.log(commands().join('\n'))

/** One image for each platform, and the commands that publish them under one name. */
function saveImages(): string[] {
  const tag = `v${VERSION}`
  const tool = process.env['GW_CONTAINER_TOOL'] ?? 'docker'
  mkdirSync(join(output, 'images'))
  const platforms = values.platforms.split(',')
  const suffixes = platforms.map((platform) => platform.replace('linux/', ''))
  for (const [at, platform] of platforms.entries()) {
    const own = `${tag}-${suffixes[at]}`
    const args = ['--bundle', resolve(values.bundle), '--registry', registry, '--tag', own, '--platform', platform]
    run(process.execPath, 'hack/image/main.ts', ...args)
    copyFileSync(join(repository, 'dist/image/gw.cdx.json'), join(output, `images/gw-${suffixes[at]}.cdx.json`))
    for (const name of IMAGES) {
      const archive = execFileSync(tool, ['save', `${registry}/${name}:${own}`], { maxBuffer: BYTES_MAX })
      writeFileSync(join(output, 'images', `${name}-${own}.tar.gz`), gzipSync(archive))
    }
  }
  return IMAGES.flatMap((name) => {
    const image = `${registry}/${name}:${tag}`
    const parts = suffixes.map((suffix) => `${image}-${suffix}`)
    return [
      ...parts.map((part) => `${tool} push ${part}`),
      `${tool} manifest create ${image} ${parts.join(' ')}`,
      `${tool} manifest push ${image}`,
    ]
  })
}

function writeStatements(): void {
  const names = globSync('**/*.{tgz,gz,yaml,json}', { cwd: output })
  const artifacts = artifactsIn(output, names)
  const commit = run('git', 'rev-parse', 'HEAD')
  const isClean = run('git', 'status', '--porcelain') === ''
  const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? run('git', 'log', '-1', '--format=%ct'))
  const statements = {
    SHA256SUMS: checksums(artifacts),
    'provenance.json': provenance(artifacts, { version: VERSION, commit, isClean, epoch }),
  }
  for (const [name, text] of Object.entries(statements)) {
    writeFileSync(join(output, name), text)
    if (key !== '') writeFileSync(join(output, `${name}.sig`), signature(text, key))
  }
}

function commands(): string[] {
  const charts = globSync('charts/*.tgz', { cwd: output }).toSorted()
  return [
    `${output} has version ${VERSION}. To publish it:`,
    `  npm publish ${join(output, packed)}`,
    ...publishing.map((command) => `  ${command}`),
    ...charts.map((chart) => `  helm push ${join(output, chart)} oci://${registry}/charts`),
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
