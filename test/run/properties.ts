// Runs before each test file: a failed property reports its seed within a minute, even if the search for a smaller
// example takes longer. A property that runs longer without a failure fails too.
import { configureGlobal } from 'fast-check'

const PROPERTY_MS = 50_000

configureGlobal({ interruptAfterTimeLimit: PROPERTY_MS, markInterruptAsFailure: true })
