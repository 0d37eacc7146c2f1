// Host names of Services: routes, reach, Services and endpoints all name them, each time put together from its parts.
import { SharedTexts } from '#api/incremental/shared-texts.ts'

export const HOSTNAMES = new SharedTexts()
