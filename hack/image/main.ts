// `make images`: the images of controller and proxy, from an empty base, with the container tool that is there.
//   node hack/image/main.ts [--tag TAG] [--registry REGISTRY] [--tool docker|buildah|nerdctl|podman|none] [--demo]
//     [--bundle FOLDER] [--output FOLDER] [--context FOLDER] [--platform linux/amd64|linux/arm64] [--without-compiled]
// --tool none: only the archives of the images, in --output. --without-compiled: without compiled code, so that equal
// inputs give equal archives.
// --demo also builds upstreams and client of samples and cluster tests; --context takes what --output had before.
// --platform: of the images, that of this machine by default; another one needs Debian here, and gets no compiled code.
// The tag "content" stands for a hash of what is in the images. Needs the bundle in dist/ (make build). Pulls no image.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { VERSION } from '#api/version.ts'
import { buildArguments, TOOLS } from './build-arguments.ts'
import { archive, AUTHORITIES, layApp, layBase, layCompiled } from './root.ts'
import { foreignRuntime, ownPlatform, ownRuntime, type Platform, PLATFORMS } from './runtime.ts'
import { licences, sbom } from './sbom.ts'

/** Target of the Dockerfile to name of the image. The last one is for tests and samples only. */
const IMAGES = { controller: 'gw-controller', proxy: 'gw', demo: 'gw-demo' }

const repository = resolve(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    tag: { type: 'string', default: `v${VERSION}` },
    registry: { type: 'string', default: process.env['GW_IMAGE_REGISTRY'] ?? 'gw.dev' },
    tool: { type: 'string', default: process.env['GW_CONTAINER_TOOL'] ?? '' },
    demo: { type: 'boolean', default: false },
    bundle: { type: 'string', default: join(repository, 'dist') },
    output: { type: 'string', default: join(repository, 'dist/image') },
    context: { type: 'string', default: '' },
    platform: { type: 'string', default: ownPlatform() },
    'without-compiled': { type: 'boolean', default: false },
  },
})

const platform = platformOf(values.platform)
const foreign = platform === ownPlatform() ? undefined : platform
const tool = values.tool === '' ? TOOLS.find(works) : values.tool
if (tool === undefined) {
  console.error(`images: none of ${TOOLS.join(', ')} works here`)
  process.exit(1)
}
const context = values.context === '' ? makeContext(resolve(values.output)) : resolve(values.context)
const tag = values.tag === 'content' ? contentTag(context) : values.tag
const revision = git('rev-parse', 'HEAD') ?? 'unknown'
for (const [target, repositoryName] of Object.entries(IMAGES)) {
  if (tool === 'none' || (target === 'demo' && !values.demo)) continue
  const name = [values.registry, repositoryName].filter((part) => part !== '').join('/')
  build(tool, target, `${name}:${tag}`)
}

function build(program: string, target: string, image: string): void {
  const labels = { VERSION, REVISION: revision, CREATED: new Date(epoch() * 1000).toISOString() }
  const args = buildArguments({ program, context, target, image, labels, platform: foreign, epoch: epoch() })
  // The classic builder of docker needs no plug-in; where buildx is there docker uses it by itself.
  const { status, stderr, stdout } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) {
    console.error(`images: ${program} ${args.join(' ')}\n${stdout}${stderr}`)
    process.exit(1)
  }
  console.log(image)
}

/** Folder with the Dockerfile and the archives; the SBOM stays beside them. */
function makeContext(folder: string): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const cache = join(repository, '.cache/images')
  const runtime = foreign === undefined ? ownRuntime() : foreignRuntime(foreign, repository, cache)
  const { name, packages, libraries } = runtime
  layBase({ root: join(folder, 'base'), runtime })
  const bundle = resolve(values.bundle)
  const systemFiles = [...(packages === undefined ? libraries.keys() : []), AUTHORITIES]
  const bill = sbom({ repository, bundle, version: VERSION, runtime: name, systemFiles, packages: packages ?? [] })
  const appLicences = licences(repository, bundle)
  layApp({ root: join(folder, 'app'), bundle, repository, runtime: runtime.folder, sbom: bill, licences: appLicences })
  mkdirSync(join(folder, 'compiled/app'), { recursive: true })
  if (runtime.isOwn && !values['without-compiled'])
    layCompiled({ root: join(folder, 'compiled'), app: join(folder, 'app') })
  mkdirSync(join(folder, 'demo/app'), { recursive: true })
  if (values.demo) bundleDemo(join(folder, 'demo/app/demo.js'))
  for (const part of ['base', 'app', 'compiled', 'demo']) {
    archive(join(folder, part), join(folder, `${part}.tar`), epoch())
    rmSync(join(folder, part), { recursive: true })
  }
  writeFileSync(join(folder, 'gw.cdx.json'), bill)
  copyFileSync(join(repository, 'images/Dockerfile'), join(folder, 'Dockerfile'))
  return folder
}

function bundleDemo(file: string): void {
  const rolldown = join(repository, 'node_modules/.bin/rolldown')
  const entry = join(repository, 'hack/demo/main.ts')
  const args = [entry, '--platform', 'node', '--format', 'esm', '--file', file]
  const { status, stdout, stderr } = spawnSync(rolldown, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`rolldown: ${stdout}${stderr}`)
}

/** Without the compiled code, which follows from the rest. */
function contentTag(folder: string): string {
  const hash = createHash('sha256')
  for (const name of ['Dockerfile', 'base.tar', 'app.tar', 'demo.tar']) hash.update(readFileSync(join(folder, name)))
  return `c-${hash.digest('hex').slice(0, 12)}`
}

/** Time of the commit, so that an image depends on what is in it only. */
function epoch(): number {
  const given = process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct') ?? '0'
  return Number(given)
}

function git(...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

function platformOf(text: string): Platform {
  if (Object.hasOwn(PLATFORMS, text)) return text as Platform // a key of the table
  console.error(`images: --platform must be one of ${Object.keys(PLATFORMS).join(', ')}, not ${text}`)
  return process.exit(1)
}

function works(program: string): boolean {
  return spawnSync(program, ['info'], { stdio: 'ignore', timeout: 20_000 }).status === 0
}
