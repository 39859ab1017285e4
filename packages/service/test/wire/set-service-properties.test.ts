import { get, put, request, wireTable } from './wire.ts'

const properties = '/?restype=service&comp=properties'
const xml = { 'Content-Type': 'application/xml' }
const set = (content: string) =>
  put(properties, `<StorageServiceProperties>${content}</StorageServiceProperties>`, xml)
const shown = (...parts: readonly string[]) => ({
  body: `\ufeff<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties>${parts.join('')}</StorageServiceProperties>`,
})

const forever = '<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>'
const retained = (days: number | string) =>
  `<RetentionPolicy><Enabled>true</Enabled><Days>${days}</Days></RetentionPolicy>`
const metrics = (name: string, content: string) => `<${name}><Version>1.0</Version>${content}</${name}>`
const hours = (content: string) => metrics('HourMetrics', content)
const minutes = (content: string) => metrics('MinuteMetrics', content)
const logging = (content: string) => `<Logging><Version>1.0</Version>${content}</Logging>`
const off = `<Enabled>false</Enabled>${forever}`
const noLogs = `<Read>false</Read><Write>false</Write><Delete>false</Delete>${forever}`
const [noLogging, noHours, noMinutes, noCors] = [logging(noLogs), hours(off), minutes(off), '<Cors />']

const rule = (fields: string) => `<CorsRule>${fields}</CorsRule>`
const cors = (...rules: readonly string[]) => `<Cors>${rules.join('')}</Cors>`
const methods = (text: string) => `<AllowedMethods>${text}</AllowedMethods>`
const origins = (text: string) => `<AllowedOrigins>${text}</AllowedOrigins>`
const allowed = (text: string) => `<AllowedHeaders>${text}</AllowedHeaders>`
const exposed = (text: string) => `<ExposedHeaders>${text}</ExposedHeaders>`
const age = (text: string) => `<MaxAgeInSeconds>${text}</MaxAgeInSeconds>`
const [getOnly, anyOrigin] = [methods('GET'), origins('*')]
const basic = rule(getOnly + anyOrigin)
const basicShown = rule(`${getOnly}${anyOrigin}<AllowedHeaders /><ExposedHeaders />${age('0')}`)
const many = (count: number, name: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => name(index)).join(',')

const everything = [
  logging('<Read>true</Read><Write>true</Write><Delete>true</Delete>' + retained(5)),
  hours(`<Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>${retained(7)}`),
  minutes(`<Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>${forever}`),
  cors(
    rule(
      methods('GET,PUT') +
        origins('https://app.example.org') +
        allowed('content-type,x-ms-*') +
        exposed('x-ms-*') +
        age('60'),
    ),
  ),
]

// biome-ignore format: a table reads in columns
wireTable('Set Table Service Properties: round trips', [
  [set(everything.join('')),                              202, { 'content-length': '0', 'content-type': undefined, 'cache-control': undefined, body: '' }],
  [get(properties),                                       200, shown(...everything)],
  [set(everything.toReversed().join('\n  ')),             202],
  [get(properties),                                       200, shown(...everything)],
  [set(cors(basic, basic)),                               202],
  [get(properties),                                       200, shown(...everything.slice(0, 3), cors(basicShown, basicShown))],
  [set(noLogging),                                        202],
  [get(properties),                                       200, shown(noLogging, ...everything.slice(1, 3), cors(basicShown, basicShown))],
  [set('<Cors />'),                                       202],
  [get(properties),                                       200, shown(noLogging, ...everything.slice(1, 3), noCors)],
  [set(''),                                               202],
  [put(properties, '<StorageServiceProperties />', xml),  202],
  [set(metrics('Metrics', off) + minutes(off)),           202],
  [get(properties),                                       200, shown(noLogging, noHours, noMinutes, noCors)],
  [set(cors()),                                           202],
])

// biome-ignore format: a table reads in columns
wireTable('Set Table Service Properties: what comes back is tidy', [
  [set(hours(`<Enabled>false</Enabled><IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>false</Enabled><Days>7</Days></RetentionPolicy>`)), 202],
  [get(properties), 200, shown(noLogging, noHours, noMinutes, noCors)],
  [set(cors(rule(`${methods(' get , merge,TRACE ,CONNECT')}${origins(' http://a.example , *')}${allowed('x-a*, x-b')}${exposed('*,etag')}<MaxAgeInSeconds/>`))), 202],
  [get(properties), 200, shown(noLogging, noHours, noMinutes, cors(rule(
    methods('GET,MERGE,TRACE,CONNECT') + origins('http://a.example,*') + allowed('x-b,x-a*') + exposed('etag,*') + age('0'))))],
  [set(cors(rule(methods('GET') + origins('https://*.example.org,http://a.example:8080,www.plain.example,null')))), 202],
  [set(cors()), 202],
])

const bad = [400, 'InvalidXmlDocument', { 'x-ms-error-code': 'InvalidXmlDocument' }] as const
const value = [400, 'InvalidXmlNodeValue', { 'x-ms-error-code': 'InvalidXmlNodeValue' }] as const

// biome-ignore format: a table reads in columns
wireTable('Set Table Service Properties: limits', [
  [set(cors(basic, basic, basic, basic, basic)),                                   202],
  [set(cors(basic, basic, basic, basic, basic, basic)),                            ...bad],
  [set(noLogging.replace(forever, retained(365))),                                 202],
  [set(noLogging.replace(forever, retained(1))),                                   202],
  [set(noLogging.replace(forever, retained(0))),                                   ...bad],
  [set(noLogging.replace(forever, retained(366))),                                 ...bad],
  [set(noHours.replace(forever, retained(366))),                                   ...bad],
  [set(noMinutes.replace(forever, retained('-1'))),                                ...bad],
  [set(cors(rule(getOnly + origins(many(64, (i) => `http://a${i}.example`))))),    202],
  [set(cors(rule(getOnly + origins(many(65, (i) => `http://a${i}.example`))))),    ...value],
  [set(cors(rule(getOnly + anyOrigin + allowed(many(64, (i) => `x-${i}`) + ',y*,z*')))), 202],
  [set(cors(rule(getOnly + anyOrigin + allowed(many(65, (i) => `x-${i}`))))),      ...value],
  [set(cors(rule(getOnly + anyOrigin + allowed('x-a*,x-b*,x-c*')))),               ...value],
  [set(cors(rule(getOnly + anyOrigin + exposed(many(64, (i) => `x-${i}`) + ',y*,z*')))), 202],
  [set(cors(rule(getOnly + anyOrigin + exposed(many(65, (i) => `x-${i}`))))),      ...value],
  [set(cors(rule(getOnly + anyOrigin + exposed('x-a*,x-b*,x-c*')))),               ...value],
  [set(cors(rule(getOnly + origins('a'.repeat(256))))),                            202],
  [set(cors(rule(getOnly + origins('a'.repeat(257))))),                            ...value],
  [set(cors(rule(getOnly + anyOrigin + allowed('a'.repeat(257))))),                ...value],
  [set(cors(rule(getOnly + anyOrigin + exposed('a'.repeat(257))))),                ...value],
  [set(cors(rule(getOnly + anyOrigin + allowed(many(8, () => 'a'.repeat(254)) + ',a'))),   ), 202],
  [set(cors(rule(getOnly + anyOrigin + allowed(many(8, () => 'a'.repeat(254)) + ',aaaa'))),), 202],
  [set(cors(rule(getOnly + anyOrigin + allowed(many(8, () => 'a'.repeat(254)) + ',aaaaa'))),), ...bad],
  [set(cors(basic, rule(getOnly + anyOrigin + allowed(many(8, () => 'a'.repeat(254)) + ',aaaa'))),), ...bad],
  [set('<Cors />'),                                                                202],
  [put(properties, `<StorageServiceProperties>${' '.repeat(65_536)}</StorageServiceProperties>`, xml), 413, 'RequestBodyTooLarge'],
  [request('PUT', properties),                                                     411, 'MissingContentLengthHeader'],
])

// biome-ignore format: a table reads in columns
wireTable('Set Table Service Properties: violations', [
  [request('PUT', properties, { headers: { 'Content-Length': '0' } }),             ...bad],
  [put(properties, '<StorageServiceProperties>', xml),                             ...bad],
  [put(properties, '<ServiceProperties />', xml),                                  ...bad],
  [set('<DefaultServiceVersion>2013-08-15</DefaultServiceVersion>'),               ...bad],
  [set('<Other />'),                                                               ...bad],
  [set('text'),                                                                    ...bad],
  [set(noLogging + noLogging),                                                     ...bad],
  [set(metrics('Metrics', off) + noHours),                                         ...bad],
  [set('<Logging />'),                                                             ...bad],
  [set(noLogging.replace('<Version>1.0</Version>', '')),                           ...bad],
  [set(noLogging.replace('<Read>false</Read>', '')),                               ...bad],
  [set(noLogging.replace('<Read>false', '<Read>no')),                              ...bad],
  [set(noLogging.replace(forever, '')),                                            ...bad],
  [set(noLogging.replace(forever, '<RetentionPolicy><Enabled>true</Enabled></RetentionPolicy>')), ...bad],
  [set(noLogging.replace(forever, '<RetentionPolicy><Days>5</Days></RetentionPolicy>')), ...bad],
  [set(noLogging.replace(forever, retained('five'))),                              ...bad],
  [set(hours(`<Enabled>true</Enabled>${forever}`)),                                ...bad],
  [set(noHours.replace('<Version>1.0</Version>', '')),                             ...bad],
  [set(noHours.replace('<Version>1.0</Version>', '<Version />')),                  ...bad],
  [set(minutes(`<Enabled>1</Enabled>${forever}`)),                                 ...bad],
  [set(cors('<Rule />')),                                                          ...bad],
  [set(cors('text')),                                                              ...bad],
  [set(cors(rule(getOnly))),                                                       ...bad],
  [set(cors(rule(anyOrigin))),                                                     ...bad],
  [set(cors(rule(`${getOnly}${anyOrigin}<Other />`))),                             ...bad],
  [set(cors(rule(getOnly + anyOrigin + age('soon')))),                             ...bad],
  [set(cors(rule(getOnly + anyOrigin + age('-1')))),                               ...bad],
  [set(cors(rule(methods('') + anyOrigin))),                                       ...value],
  [set(cors(rule(methods('FETCH') + anyOrigin))),                                  ...value],
  [set(cors(rule(methods('GET,,PUT') + anyOrigin))),                               ...value],
  [set(cors(rule(`${getOnly}<AllowedOrigins />`))),                                ...value],
  [set(cors(rule(getOnly + origins('http://a.example,')))),                        ...value],
  [set(cors(rule(getOnly + origins('http://a.example/')))),                        ...value],
  [set(cors(rule(getOnly + origins('http://a.example/path')))),                    ...value],
  [set(cors(rule(getOnly + origins('http://*')))),                                 ...value],
  [set(cors(rule(getOnly + origins('http://*.')))),                                ...value],
  [set(cors(rule(getOnly + origins('http://a.*.example')))),                       ...value],
  [set(cors(rule(getOnly + origins('*.example')))),                                ...value],
  [set(cors(rule(getOnly + origins('http://*a.example')))),                        ...value],
  [set(cors(rule(getOnly + anyOrigin + allowed('x-*-y')))),                        ...value],
  [set(cors(rule(getOnly + anyOrigin + allowed('two words')))),                    ...value],
  [set(cors(rule(getOnly + anyOrigin + exposed('a,,b')))),                         ...value],
  [put(properties, `<!DOCTYPE x [<!ENTITY e "e">]><StorageServiceProperties />`, xml), ...bad],
  [{ ...put('/devstoreaccount1-secondary/?restype=service&comp=properties', '<StorageServiceProperties />', xml), wholeTarget: true },
    403, 'InsufficientAccountPermissions', { 'content-type': 'application/xml', 'x-ms-error-code': 'InsufficientAccountPermissions' }],
])
