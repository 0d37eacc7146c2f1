// Before each file of tests: a property that fails tells its seed within a minute, however long the way to a smaller
// example is. Nothing is cut short in silence: a run that takes so long without a failure fails too.
import { configureGlobal } from 'fast-check'

const PROPERTY_MS = 50_000

configureGlobal({ interruptAfterTimeLimit: PROPERTY_MS, markInterruptAsFailure: true })
