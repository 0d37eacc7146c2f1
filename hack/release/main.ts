// `make release`: all artifacts of a version in dist/release, and the commands that publish them. Publishes nothing.
//   node hack/release/main.ts [--bundle FOLDER] [--output FOLDER] [--registry REGISTRY] [--key FILE]
//     [--without images|compiled] [--platforms linux/amd64,linux/arm64]
// Needs the bundle (make build), kubectl and Go. --key: a private key (Ed25519, PEM) that signs checksums, provenance
// and images. --without compiled: images without compiled code, so that equal inputs give equal digests.
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { VERSION } from '#api/version.ts'
import { keptText, schemasText } from '../../test/compatibility/schemas.ts'
import { PLATFORMS } from '../image/runtime.ts'
import { packChart } from './charts.ts'
import { attestImage, signImage } from './cosign.ts'
import { readDockerfile } from './dockerfile.ts'
import { npmPackage } from './npm-package.ts'
import { OciLayout, writeImage } from './oci-layout.ts'
import { type Layout, nextSteps, publishScript, type ReleaseFiles } from './publish.ts'
import { DEFAULT_REGISTRY, missingSteps } from './readiness.ts'
import {
  artifactsIn,
  billStatement,
  type Build,
  checksums,
  provenance,
  publicKey,
  signed,
  signingKey,
} from './statement.ts'

const CHARTS = ['gw', 'gw-crds', 'gw-standalone']
/** Target of the Dockerfile to name of the image. */
const IMAGES = { controller: 'gw-controller', proxy: 'gw' }
/** Of what a command prints. */
const BYTES_MAX = 64 * 1024 * 1024

const repository = resolve(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    bundle: { type: 'string', default: join(repository, 'dist') },
    output: { type: 'string', default: join(repository, 'dist/release') },
    registry: { type: 'string', default: DEFAULT_REGISTRY },
    key: { type: 'string', default: process.env['GW_RELEASE_KEY'] ?? '' },
    without: { type: 'string', default: '' },
    platforms: { type: 'string', default: Object.keys(PLATFORMS).join(',') },
  },
})
const { registry } = values
const key = values.key === '' ? undefined : signingKey(values.key)
const without = new Set(values.without.split(','))
const platforms = without.has('images') ? [] : values.platforms.split(',')
const output = resolve(values.output)
const tag = `v${VERSION}`
const build: Build = {
  version: VERSION,
  commit: run('git', 'rev-parse', 'HEAD'),
  isClean: run('git', 'status', '--porcelain') === '',
  // Of the commit, so that a release depends on its content only.
  epoch: Number(process.env['SOURCE_DATE_EPOCH'] ?? run('git', 'log', '-1', '--format=%ct')),
}
const created = new Date(build.epoch * 1000).toISOString()
rmSync(output, { recursive: true, force: true })
mkdirSync(join(output, 'charts'), { recursive: true })

const packed = packNpm()
writeManifests()
const layouts = [...saveImages(), ...packCharts()]
const attachments = writeStatements()
const files: ReleaseFiles = { version: VERSION, commit: build.commit, npmPackage: packed, layouts, attachments }
writeFileSync(join(output, 'publish.sh'), publishScript(files, repository))
chmodSync(join(output, 'publish.sh'), 0o755)
console.log(nextSteps({ ...files, folder: output, missing: missing() }).join('\n'))

function packNpm(): string {
  report('the npm package')
  const folder = join(repository, '.cache/release/npm')
  return npmPackage({ repository, bundle: resolve(values.bundle), version: VERSION, folder, to: output })
}

/** Without a clone, kubectl needs no other file. */
function writeManifests(): void {
  report('the manifests')
  writeFileSync(join(output, 'install.yaml'), `${run('hack/deploy.sh', 'manifest')}\n`)
  run('hack/update-gateway-api.sh')
  const folder = join(repository, '.cache/gateway-api/standard')
  const names = globSync('*.yaml', { cwd: folder }).toSorted()
  const texts = names.map((name) =>
    readFileSync(join(folder, name), 'utf8')
      .replace(/^---\n/, '')
      .trimEnd(),
  )
  writeFileSync(join(output, 'gateway-api.yaml'), `${texts.join('\n---\n')}\n`)
}

function packCharts(): Layout[] {
  report('the charts; the first time, helm is built')
  const program = run('hack/helm.sh')
  run('hack/charts.sh')
  const cache = join(repository, '.cache/release/charts')
  mkdirSync(cache, { recursive: true })
  const helm = (...args: readonly string[]): void => void run(program, ...args)
  return CHARTS.map((name) => {
    const source = join(repository, 'config/helm', name)
    const folder = join(output, 'charts')
    const chart = packChart({ source, name, registry, cache, output: folder, epoch: build.epoch, helm })
    return finished(chart.layout, { name: `${registry}/charts/${name}`, digest: chart.digest })
  })
}

/** An OCI image layout for each name, with all platforms. */
function saveImages(): Layout[] {
  const contexts = platforms.map((platform) => ({ platform, context: imageContext(platform) }))
  if (contexts.length === 0) return []
  const dockerfile = readFileSync(join(repository, 'images/Dockerfile'), 'utf8')
  const args = { VERSION, REVISION: build.commit, CREATED: created }
  return Object.entries(IMAGES).map(([target, name]) => {
    report(`the image ${name}`)
    const config = readDockerfile(dockerfile, target, args)
    const layout = new OciLayout(join(output, 'images', name))
    const images = contexts.map((context) => ({ ...context, config }))
    const { digest, platforms: digests } = writeImage(layout, images, { tag, created })
    const image = `${registry}/${name}`
    const done = finished(layout, { name: image, digest })
    if (key === undefined) return done
    for (const [platform, own] of digests) {
      const bill = readFileSync(join(output, billOf(platform)), 'utf8')
      attestImage(layout, own, [billStatement({ name: image, digest: hexOf(own) }, bill)], key)
    }
    return { ...done, tags: layout.tags }
  })
}

/** Signed if there is a key. */
function finished(layout: OciLayout, { name, digest }: { readonly name: string; readonly digest: string }): Layout {
  if (key !== undefined) {
    signImage(layout, { image: name, digest }, key)
    attestImage(layout, digest, [provenance([{ name, digest: hexOf(digest) }], build)], key)
  }
  return { folder: relative(output, layout.folder), name, digest, tags: layout.tags }
}

/** Folder with the archives of the layers. */
function imageContext(platform: string): string {
  report(`the image content for ${platform}`)
  const context = join(repository, '.cache/release/images', platform.replace('linux/', ''))
  const args = ['--tool', 'none', '--bundle', resolve(values.bundle), '--output', context, '--platform', platform]
  run(process.execPath, 'hack/image/main.ts', ...args, ...(without.has('compiled') ? ['--without-compiled'] : []))
  copyFileSync(join(context, 'gw.cdx.json'), join(output, billOf(platform)))
  return context
}

function billOf(platform: string): string {
  return `gw-${VERSION}-${platform.replace('/', '-')}.cdx.json`
}

/** Returns the files for the page of the release. */
function writeStatements(): string[] {
  const artifacts = artifactsIn(output, globSync(['*.{tgz,yaml,json}', 'charts/*.tgz'], { cwd: output }))
  const published = layouts.map(({ name, digest }) => ({ name, digest: hexOf(digest) }))
  const statements = {
    SHA256SUMS: checksums(artifacts),
    'provenance.json': provenance([...artifacts, ...published], build),
  }
  for (const [name, text] of Object.entries(statements)) {
    writeFileSync(join(output, name), text)
    if (key !== undefined) writeFileSync(join(output, `${name}.sig`), signed(Buffer.from(text), key))
  }
  if (key !== undefined) writeFileSync(join(output, 'public.pem'), publicKey(key))
  return globSync(['*.{yaml,json,sig,pem}', 'SHA256SUMS'], { cwd: output }).toSorted()
}

function missing(): string[] {
  return missingSteps({
    version: VERSION,
    registry,
    isClean: build.isClean,
    isSigned: key !== undefined,
    changelog: readFileSync(join(repository, 'CHANGELOG.md'), 'utf8'),
    keptSchemas: keptText(VERSION),
    currentSchemas: schemasText(),
    missingPlatforms: Object.keys(PLATFORMS).filter((platform) => !platforms.includes(platform)),
  })
}

function hexOf(digest: string): string {
  return digest.replace('sha256:', '')
}

/** Some steps take a minute. */
function report(step: string): void {
  console.error(`release: making ${step}`)
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
