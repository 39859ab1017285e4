/** The settings of an account's table service. Only the CORS rules change what it does; the rest is kept. */

export interface ServiceProperties {
  readonly logging: Logging
  readonly hourMetrics: Metrics
  readonly minuteMetrics: Metrics
  /** In the order they are tried. */
  readonly cors: readonly CorsRule[]
}

export interface Logging {
  readonly version: string
  readonly read: boolean
  readonly write: boolean
  readonly delete: boolean
  /** Null keeps logs for ever. */
  readonly retentionDays: number | null
}

export interface Metrics {
  readonly version: string
  readonly enabled: boolean
  readonly includeApis: boolean
  /** Null keeps metrics for ever. */
  readonly retentionDays: number | null
}

export interface CorsRule {
  /** `*`, or an origin, or `scheme://*.domain`. */
  readonly origins: readonly string[]
  /** In upper case. */
  readonly methods: readonly string[]
  /** Names, then prefixes, which end in `*`. */
  readonly allowedHeaders: readonly string[]
  readonly exposedHeaders: readonly string[]
  readonly maxAgeSeconds: number
}

const noMetrics: Metrics = { version: '1.0', enabled: false, includeApis: false, retentionDays: null }

/** Of an account that never set any: all off, since nothing is collected. */
export const defaultServiceProperties: ServiceProperties = {
  logging: { version: '1.0', read: false, write: false, delete: false, retentionDays: null },
  hourMetrics: noMetrics,
  minuteMetrics: noMetrics,
  cors: [],
}
