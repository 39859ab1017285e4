/** Wide entities, data series and relationships of the guide's company, as tests need them. */
import {
  counts,
  dateTime,
  digits,
  double,
  entity,
  int32,
  int64,
  key,
  type Property,
  series,
  string,
  subtypes,
  text,
  wide,
} from '../../src/index.ts'
import { Employee } from './company.ts'

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
/** Written out: a pattern of names would be lost where it is spread. */
type Day = `day${0 | 1 | 2}${Digit}${Digit}`
const days = Array.from({ length: 300 }, (_, day) => `day${String(day).padStart(3, '0')}` as Day)

/** 300 properties over three rows, by a hash of their names. */
export const Year = wide('Year', {
  properties: {
    department: string(),
    year: int32(),
    remark: string().optional(),
    ...(Object.fromEntries(days.map((day) => [day, int32().optional()])) as Record<
      Day,
      Property<'Int32', 'optional'>
    >),
  },
  partition: key(text('department')),
  row: key('year_', digits('year', 4)),
  parts: 3,
})

/** Few properties, and the schema says which part they are in. */
export const Report = wide('Report', {
  properties: {
    department: string(),
    title: string(),
    summary: string(),
    pages: int32().optional(),
    body: string().optional(),
    at: dateTime().optional(),
  },
  partition: key(text('department')),
  row: key('report_', text('title')),
  parts: [
    ['summary', 'pages'],
    ['body', 'at'],
  ],
})

export const Messages = series('Messages', {
  properties: { department: string(), employee: int32() },
  partition: key(text('department')),
  row: key('messages_', digits('employee', 6), '_'),
  slot: 'hour',
  per: 'day',
  value: int32(),
})

/** 366 slots: more than a row has room for. */
export const Visits = series('Visits', {
  properties: { site: string() },
  partition: key(text('site')),
  row: key('visits_'),
  slot: 'day',
  per: 'year',
  value: int64(),
})

export const Temperature = series('Temperature', {
  properties: { site: string() },
  partition: key(text('site')),
  row: key('temperature_'),
  slot: 'minute',
  per: 'hour',
  value: double(),
})

export const Moods = series('Moods', {
  properties: { site: string() },
  partition: key(text('site')),
  row: key('moods_'),
  slot: 'month',
  per: 'year',
  value: string(),
})

/** How many employees it has is kept in it. */
export const Office = entity('Office', {
  properties: {
    department: string(),
    office: string(),
    floor: int32().optional(),
    desks: int32().optional(),
  },
  partition: key(text('department')),
  row: key('office_', text('office')),
})

export const Desk = entity('Desk', {
  properties: { department: string(), number: int32(), office: string(), colour: string().optional() },
  partition: key(text('department')),
  row: key('desk_', digits('number', 4)),
})

export const desksOfOffice = counts({
  parent: Office,
  children: Desk,
  link: { office: 'office' },
  count: 'desks',
})

/** `Person` itself is none: every row is one of these. */
export const Person = subtypes(
  {
    properties: { city: string(), id: int32(), name: string() },
    partition: key(text('city')),
    row: key('person_', digits('id', 6)),
    typedBy: { property: 'Kind' },
  },
  { Customer: { credit: double().optional() }, Colleague: { salary: int64() } },
)

export { Employee }
