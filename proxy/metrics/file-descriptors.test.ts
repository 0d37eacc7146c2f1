// Figures of this process, against what it opens.
import { closeSync, openSync } from 'node:fs'
import { expect, it } from 'vitest'
import { descriptorLimit, openDescriptors } from './file-descriptors.ts'

it.runIf(process.platform === 'linux')('counts what is open, below the limit', () => {
  const before = openDescriptors() ?? 0
  const opened = Array.from({ length: 20 }, () => openSync('/dev/null', 'r'))
  const after = openDescriptors() ?? 0
  for (const fd of opened) closeSync(fd)
  // Other tests of this process open and close as well.
  expect(after - before).toBeGreaterThan(10)
  expect(descriptorLimit()).toBeGreaterThan(after)
})
