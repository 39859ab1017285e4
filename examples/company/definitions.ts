/** The company of the design guide: what is stored, and under which keys. */
import {
  asc,
  binary,
  copies,
  counts,
  dateTime,
  desc,
  digits,
  double,
  entity,
  guid,
  int32,
  int64,
  key,
  type Property,
  series,
  spread,
  string,
  subtypes,
  text,
  wide,
} from '@partita/patterns'

export const Department = entity('Department', {
  properties: {
    department: string(),
    title: string(),
    staff: int32().optional(),
    manager: int32().optional(),
    managerName: string().optional(),
    managerEmail: string().optional(),
  },
  partition: key(text('department')),
  row: key('dept'),
})

export const Employee = entity('Employee', {
  properties: {
    department: string(),
    id: int32(),
    email: string(),
    name: string(),
    age: int32(),
    manager: int32().optional(),
  },
  partition: key(text('department')),
  row: key('empid_', digits('id', 6)),
  indexes: {
    byEmail: { row: key('email_', text('email')) },
    namesakes: { row: key('name_', text('name')), list: true },
    everywhereByEmail: { partition: key('mail_', spread(4, 'email')), row: key('mail_', text('email')) },
  },
})

export const managerOfDepartment = copies({
  from: Employee,
  into: Department,
  link: { id: 'manager' },
  properties: { managerName: 'name', managerEmail: 'email' },
})

export const staffOfDepartment = counts({ parent: Department, children: Employee, link: {}, count: 'staff' })

export const Review = entity('Review', {
  properties: { department: string(), employee: int32(), year: int32(), rating: double() },
  partition: key(text('department')),
  row: key('review_', digits('employee', 6), '_', digits('year', 4)),
})

export const Claim = entity('Claim', {
  properties: { office: string(), at: dateTime(), id: guid().fresh(), amount: int64() },
  partition: key('claims_', text('office')),
  row: key(desc('at'), '_', text('id')),
})

export const Signin = entity('Signin', {
  properties: { user: string(), at: dateTime() },
  partition: key('signin_', spread(4, 'user')),
  row: key(asc('at'), text('user')),
})

export const Messages = series('Messages', {
  properties: { department: string(), employee: int32() },
  partition: key(text('department')),
  row: key('messages_', digits('employee', 6), '_'),
  slot: 'hour',
  per: 'day',
  value: int32(),
})

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
type Line = `line${0 | 1 | 2 | 3}${Digit}${Digit}`
export const lines = Array.from({ length: 400 }, (_, line) => `line${String(line).padStart(3, '0')}` as Line)
const lineProperties = lines.map((line) => [line, int32().optional()])

/** More lines than there are properties in a row. */
export const Budget = wide('Budget', {
  properties: {
    department: string(),
    year: int32(),
    ...(Object.fromEntries(lineProperties) as Record<Line, Property<'Int32', 'optional'>>),
  },
  partition: key(text('department')),
  row: key('budget_', digits('year', 4)),
  parts: 4,
})

/** Salaries that nobody but the company reads, and photos that are too large for a row. */
export const Badge = entity('Badge', {
  properties: {
    department: string(),
    id: int32(),
    salary: string().encrypted(),
    photo: binary().large().optional(),
  },
  partition: key(text('department')),
  row: key('badge_', digits('id', 6)),
})

export const Person = subtypes(
  {
    properties: { city: string(), id: int32(), name: string() },
    partition: key('people_', text('city')),
    row: key('person_', digits('id', 6)),
    typedBy: { property: 'Kind' },
  },
  { Customer: { credit: double() }, Contractor: { rate: double() } },
)
