// The npm package `gw`: the bundle, which needs no other package, so that `npx gw run -f …` installs one file.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UI_FOLDERS } from '#api/admin/ui-files.ts'
import { licences } from '../image/sbom.ts'

const START = `#!/usr/bin/env -S node --disable-warning=ExperimentalWarning --use-system-ca
import '../lib/gw.js'
`

export interface NpmPackageOptions {
  readonly repository: string
  readonly bundle: string
  readonly version: string
  /** Empty, or does not exist. */
  readonly folder: string
  /** Of the package file. */
  readonly to: string
}

/** Returns the name of the file. Equal inputs give equal bytes. */
export function npmPackage({ repository, bundle, version, folder, to }: NpmPackageOptions): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'bin'), { recursive: true })
  mkdirSync(join(folder, 'lib'))
  for (const name of readdirSync(bundle).filter((file) => file.endsWith('.js'))) {
    copyFileSync(join(bundle, name), join(folder, 'lib', name))
  }
  for (const name of UI_FOLDERS) cpSync(join(bundle, name), join(folder, 'lib', name), { recursive: true })
  writeFileSync(join(folder, 'bin/gw.js'), START)
  chmodSync(join(folder, 'bin/gw.js'), 0o755)
  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) copyFileSync(join(repository, name), join(folder, name))
  copyFileSync(join(repository, 'docs/man/gw.1'), join(folder, 'gw.1'))
  writeFileSync(join(folder, 'LICENSES-OF-PACKAGES'), licences(repository, bundle))
  const { description, license, engines } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    readonly [key: string]: unknown
  } // of this repository
  const manifest = {
    name: 'gw',
    version,
    description,
    license,
    type: 'module',
    bin: { gw: 'bin/gw.js', 'kubectl-gw': 'bin/gw.js' },
    man: './gw.1',
    engines,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', to]
  return execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }).trim()
}
