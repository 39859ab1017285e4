/**
 * Service properties as XML, in both directions. Written in this order; read in any:
 *
 *   StorageServiceProperties = Logging HourMetrics MinuteMetrics Cors
 *   Logging     = Version Read Write Delete RetentionPolicy
 *   …Metrics    = Version Enabled [ IncludeAPIs ] RetentionPolicy
 *   Retention…  = Enabled [ Days ]
 *   Cors        = *( CorsRule: AllowedMethods AllowedOrigins AllowedHeaders ExposedHeaders MaxAgeInSeconds )
 */
import { limits } from '../model/limits.ts'
import type { CorsRule, Logging, Metrics, ServiceProperties } from '../model/service-properties.ts'
import {
  element,
  fieldsOf,
  invalidXml,
  invalidXmlValue,
  listOf,
  readXml,
  textElement,
  textOf,
  type XmlNode,
} from './xml.ts'

/** Settings that the document leaves out are left as they were. */
export function readServiceProperties(body: Buffer): Partial<ServiceProperties> {
  const root = readXml(body, 'StorageServiceProperties')
  const fields = fieldsOf(root, ['Logging', 'Metrics', 'HourMetrics', 'MinuteMetrics', 'Cors'])
  const logging = fields.get('Logging')
  const minuteMetrics = fields.get('MinuteMetrics')
  const cors = fields.get('Cors')
  // Before 2013-08-15 there was one kind of metrics, by the hour.
  if (fields.has('Metrics') && fields.has('HourMetrics')) throw invalidXml()
  const hourMetrics = fields.get('HourMetrics') ?? fields.get('Metrics')
  return {
    ...(logging === undefined ? {} : { logging: readLogging(logging) }),
    ...(hourMetrics === undefined ? {} : { hourMetrics: readMetrics(hourMetrics) }),
    ...(minuteMetrics === undefined ? {} : { minuteMetrics: readMetrics(minuteMetrics) }),
    ...(cors === undefined ? {} : { cors: readCors(cors) }),
  }
}

export function servicePropertiesXml(properties: ServiceProperties): string {
  const { logging, hourMetrics, minuteMetrics, cors } = properties
  return element(
    'StorageServiceProperties',
    loggingXml(logging) +
      metricsXml('HourMetrics', hourMetrics) +
      metricsXml('MinuteMetrics', minuteMetrics) +
      element('Cors', cors.map(ruleXml).join('')),
  )
}

function readLogging(node: XmlNode): Logging {
  const fields = fieldsOf(node, ['Version', 'Read', 'Write', 'Delete', 'RetentionPolicy'])
  return {
    version: readVersion(fields.get('Version')),
    read: readBoolean(fields.get('Read')),
    write: readBoolean(fields.get('Write')),
    delete: readBoolean(fields.get('Delete')),
    retentionDays: readRetention(fields.get('RetentionPolicy')),
  }
}

function loggingXml(logging: Logging): string {
  return element(
    'Logging',
    textElement('Version', logging.version) +
      textElement('Read', logging.read) +
      textElement('Write', logging.write) +
      textElement('Delete', logging.delete) +
      retentionXml(logging.retentionDays),
  )
}

function readMetrics(node: XmlNode): Metrics {
  const fields = fieldsOf(node, ['Version', 'Enabled', 'IncludeAPIs', 'RetentionPolicy'])
  const enabled = readBoolean(fields.get('Enabled'))
  return {
    version: readVersion(fields.get('Version')),
    enabled,
    includeApis: (enabled || fields.has('IncludeAPIs')) && readBoolean(fields.get('IncludeAPIs')),
    retentionDays: readRetention(fields.get('RetentionPolicy')),
  }
}

function metricsXml(name: string, metrics: Metrics): string {
  return element(
    name,
    textElement('Version', metrics.version) +
      textElement('Enabled', metrics.enabled) +
      (metrics.enabled ? textElement('IncludeAPIs', metrics.includeApis) : '') +
      retentionXml(metrics.retentionDays),
  )
}

function readRetention(node: XmlNode | undefined): number | null {
  if (node === undefined) throw invalidXml()
  const fields = fieldsOf(node, ['Enabled', 'Days'])
  if (!readBoolean(fields.get('Enabled'))) return null
  const days = readInteger(fields.get('Days'))
  if (days < 1 || days > limits.retentionDaysMax) throw invalidXml()
  return days
}

function retentionXml(days: number | null): string {
  const fields = textElement('Enabled', days !== null) + (days === null ? '' : textElement('Days', days))
  return element('RetentionPolicy', fields)
}

function readCors(node: XmlNode): CorsRule[] {
  const rules = listOf(node, 'CorsRule')
  if (rules.length > limits.corsRulesMax) throw invalidXml()
  const read = rules.map(readRule)
  let characters = 0
  for (const rule of rules) for (const field of rule.children) characters += field.text.length
  if (characters > limits.corsCharactersMax) throw invalidXml()
  return read
}

function readRule(node: XmlNode): CorsRule {
  const fields = fieldsOf(node, [
    'AllowedMethods',
    'AllowedOrigins',
    'AllowedHeaders',
    'ExposedHeaders',
    'MaxAgeInSeconds',
  ])
  const age = fields.get('MaxAgeInSeconds')
  return {
    methods: readMethods(fields.get('AllowedMethods')),
    origins: readOrigins(fields.get('AllowedOrigins')),
    allowedHeaders: readHeaderNames(fields.get('AllowedHeaders')),
    exposedHeaders: readHeaderNames(fields.get('ExposedHeaders')),
    maxAgeSeconds: textOf(age).trim() === '' ? 0 : readInteger(age),
  }
}

function ruleXml(rule: CorsRule): string {
  return element(
    'CorsRule',
    textElement('AllowedMethods', rule.methods.join(',')) +
      textElement('AllowedOrigins', rule.origins.join(',')) +
      textElement('AllowedHeaders', rule.allowedHeaders.join(',')) +
      textElement('ExposedHeaders', rule.exposedHeaders.join(',')) +
      textElement('MaxAgeInSeconds', rule.maxAgeSeconds),
  )
}

const methodNames = new Set('DELETE GET HEAD MERGE POST OPTIONS PUT PATCH TRACE CONNECT'.split(' '))

function readMethods(node: XmlNode | undefined): string[] {
  const methods = readNames(node).map((method) => method.toUpperCase())
  if (methods.length === 0 || methods.some((method) => !methodNames.has(method))) throw invalidXmlValue()
  return methods
}

/** A scheme may be left out: clients set such origins, though no browser sends one. */
const originShape =
  /^(?:\*|(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/)?[^\s*/?#]+|[A-Za-z][A-Za-z0-9+.-]*:\/\/\*\.[^\s*/?#]+)$/

function readOrigins(node: XmlNode | undefined): string[] {
  const origins = readNames(node)
  const many = origins.length === 0 || origins.length > limits.corsOriginsMax
  if (many || origins.some((origin) => isLong(origin) || !originShape.test(origin))) throw invalidXmlValue()
  return origins
}

/** A header's name, the beginning of one, or `*` for all. */
const headerShape = /^(?:[!#$%&'+.^_`|~0-9A-Za-z-]+\*?|\*)$/

/** Names first, then prefixes: the order in which they come back. */
function readHeaderNames(node: XmlNode | undefined): string[] {
  const all = node === undefined ? [] : readNames(node)
  if (all.some((name) => isLong(name) || !headerShape.test(name))) throw invalidXmlValue()
  const names = all.filter((name) => !name.endsWith('*'))
  const prefixes = all.filter((name) => name.endsWith('*'))
  if (names.length > limits.corsHeadersMax || prefixes.length > limits.corsHeaderPrefixesMax) {
    throw invalidXmlValue()
  }
  return [...names, ...prefixes]
}

/** Separated by commas. An element without any text has none; one that is missing is refused. */
function readNames(node: XmlNode | undefined): string[] {
  if (node === undefined) throw invalidXml()
  const text = textOf(node).trim()
  return text === '' ? [] : text.split(',').map((name) => name.trim())
}

function isLong(name: string): boolean {
  return name.length > limits.corsNameCharactersMax
}

function readVersion(node: XmlNode | undefined): string {
  const text = textOf(node).trim()
  if (!/^\d{1,3}\.\d{1,3}$/.test(text)) throw invalidXml()
  return text
}

function readBoolean(node: XmlNode | undefined): boolean {
  const text = textOf(node).trim().toLowerCase()
  if (text !== 'true' && text !== 'false') throw invalidXml()
  return text === 'true'
}

const integerMax = 2_147_483_647

function readInteger(node: XmlNode | undefined): number {
  const text = textOf(node).trim()
  if (!/^\d{1,10}$/.test(text) || Number(text) > integerMax) throw invalidXml()
  return Number(text)
}
