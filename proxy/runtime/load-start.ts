// Makes V8 optimize earlier, once a worker has load: the command starts with higher thresholds, which save memory where
// few requests arrive.
import { setCompilerThresholds } from '#api/compiler-thresholds.ts'

/** Between two looks. Probes and scrapes cause fewer. */
const REQUESTS_MIN = 100

export class LoadStart {
  #requests = 0
  #hasStarted = false

  get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** `requests`: that have ended so far. */
  look(requests: number): void {
    if (this.#hasStarted) return
    this.#hasStarted = requests - this.#requests >= REQUESTS_MIN
    this.#requests = requests
    if (this.#hasStarted) setCompilerThresholds(1)
  }
}
