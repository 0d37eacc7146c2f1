import { expect, it } from 'vitest'
import { imageName } from './image.ts'

it.each([
  [{ registry: 'r', repository: 'a/b', tag: 't' }, 'r/a/b:t'],
  [{ registry: '', repository: 'a/b', tag: 't' }, 'a/b:t'],
  [{ registry: 'r:5000', repository: 'b', tag: '' }, 'r:5000/b'],
  [{ registry: 'r', repository: 'b', tag: 't', digest: 'sha256:1' }, 'r/b:t@sha256:1'],
  [{ registry: 'r', repository: 'b', tag: '', digest: 'sha256:1' }, 'r/b@sha256:1'],
  [{ registry: 'r', repository: 'b', tag: 't', digest: '' }, 'r/b:t'],
])('%j is %s', (image, name) => expect(imageName(image)).toBe(name))
