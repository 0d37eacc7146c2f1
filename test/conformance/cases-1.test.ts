// Half of the conformance cases; cases-2.test.ts runs the others at the same time.
import { describeCases } from './suite/run-cases.ts'

await describeCases(0)
