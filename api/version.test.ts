// Controller and proxy report the commit of their images.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildInfo } from './version.ts'

it('reads the build information of images', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '..', 'images', 'Dockerfile'), 'utf8')
  const said = [...dockerfile.matchAll(/\b(GW_BUILD_\w+)=\$(\w+)/g)].map(([, name = '', value = '']) => [name, value])
  expect(buildInfo(Object.fromEntries(said))).toEqual({ commit: 'REVISION', date: 'CREATED' })
})
