// Writes the manual page of gw; cli/man-page.test.ts compares it with the commands.
import { writeFileSync } from 'node:fs'
import { manPage } from '#cli/man-page.ts'
import { buildProgram } from '#cli/program.ts'

writeFileSync(new URL('../docs/man/gw.1', import.meta.url), manPage(buildProgram(() => undefined)))
