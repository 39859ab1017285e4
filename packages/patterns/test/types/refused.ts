/** Uses that the compiler must refuse: each expectation fails to compile if its line ever compiles. */
import {
  and,
  boolean,
  copies,
  dateTime,
  digits,
  entity,
  Instant,
  int32,
  key,
  patch,
  string,
  type Stored,
  type Table,
  text,
} from '../../src/index.ts'
import { AllTypes, Claim, Colleague, Employee, Member, Review, Signin, Site } from '../support/company.ts'

declare const table: Table
const employees = table.of(Employee)
const members = table.of(Member)
const reviews = table.of(Review)
const claims = table.of(Claim)
const allTypes = table.of(AllTypes)
const colleagues = table.of(Colleague)
const jones = { department: 'Sales', id: 1 }

const Sealed = entity('Sealed', {
  properties: {
    group: string(),
    id: int32(),
    secret: string().encrypted(),
    photo: string().large(),
    open: string(),
  },
  partition: key(text('group')),
  row: key(digits('id', 6)),
})
const sealed = table.of(Sealed)
const remote = { partition: key('p'), row: key('i_', text('a')) }
const plain = { properties: { a: string() }, partition: key('p'), row: key('r_', text('a')) }

export async function refused(): Promise<void> {
  // ---- definitions
  // @ts-expect-error a key names only properties that there are
  entity('X', { properties: { a: string() }, partition: key(text('b')), row: key(text('a')) })
  // @ts-expect-error so does an index
  entity('X', { ...plain, indexes: { i: { row: key('i_', text('b')) } } })
  // @ts-expect-error copies hold only properties that there are
  entity('X', { ...plain, indexes: { i: { row: key('i_', text('a')), copy: ['b'] } } })
  // @ts-expect-error its partition too is made of properties that there are
  entity('X', { ...plain, indexes: { i: { partition: key(text('b')), row: key('i_', text('a')) } } })
  // @ts-expect-error another table means another partition
  entity('X', { ...plain, indexes: { i: { row: key('i_', text('a')), table: 't' } } })
  // @ts-expect-error a list holds no copies
  entity('X', { ...plain, indexes: { i: { row: key('i_', text('a')), list: true, copy: ['a'] } } })
  // @ts-expect-error only lists live in blobs
  entity('X', { ...plain, indexes: { i: { ...remote, container: 'c' } } })
  // @ts-expect-error the link must name every part of the RowKey
  copies({ from: Employee, into: Site, link: { department: 'managerDepartment' }, properties: {} })
  // @ts-expect-error by properties of the same type
  copies({ from: Employee, into: Site, link: { department: 'manager', id: 'manager' }, properties: {} })
  // @ts-expect-error only guids and times can be made fresh
  string().fresh()
  // @ts-expect-error only texts and bytes can be encrypted
  int32().encrypted()
  // @ts-expect-error only texts and bytes can be large
  boolean().large()

  // ---- keys
  // @ts-expect-error get needs the whole key
  await employees.get({ department: 'Sales' })
  // @ts-expect-error of the right types
  await employees.get({ department: 'Sales', id: '1' })
  // @ts-expect-error query needs the whole partition key, not parts of the row
  employees.query({ id: 1 })
  // @ts-expect-error an index has a key of its own
  await employees.by('byEmail').get(jones)
  // @ts-expect-error there is no such index
  employees.by('byAge')
  // @ts-expect-error copies that change with the entity need not be verified
  await employees.by('byEmail').get({ department: 'Sales', email: 'j' }, { verify: true })
  // @ts-expect-error nor can a list be: its entities always are
  await colleagues.by('namesakes').get({ department: 'Sales', name: 'J' }, { verify: true })
  // @ts-expect-error a list has no order to query
  colleagues.by('namesakes').query({ department: 'Sales' })
  // @ts-expect-error the list is that of a department
  await colleagues.by('namesakes').get({ name: 'J' })
  // @ts-expect-error an unverified copy holds only what was chosen
  ;(await colleagues.by('byEmail').get({ email: 'j' }))?.remark?.toString()

  // ---- writes
  // @ts-expect-error a required property is missing
  await employees.insert({ ...jones, name: 'Jones' })
  // @ts-expect-error a property that there is not
  await employees.insert({ ...jones, email: 'j', name: 'Jones', shoe: 44 })
  // @ts-expect-error Int64 is a bigint
  await claims.insert({ office: 'a', at: new Date(), amount: 5 })
  // @ts-expect-error replace says under which ETag
  await employees.replace({ ...jones, email: 'j', name: 'Jones' })
  // @ts-expect-error a read gives an Instant, so that no digit of the time is lost
  ;((): Date => ({}) as Stored<typeof Claim>['at'])()

  // ---- patches
  // @ts-expect-error a patch cannot touch the key
  await members.patch({ club: 'c', id: 1 }, { id: 2 })
  // @ts-expect-error nor what feeds an index
  await members.patch({ club: 'c', id: 1 }, { nick: 'x' })
  // @ts-expect-error nor what an index copies
  await members.patch({ club: 'c', id: 1 }, { city: 'x' })
  // @ts-expect-error here an index copies everything
  await employees.patch(jones, { age: 5 })
  // @ts-expect-error nor what feeds an index elsewhere
  await colleagues.patch(jones, { age: 5 })
  // @ts-expect-error nor what feeds a list
  await colleagues.patch(jones, { name: 'x' })
  // @ts-expect-error the same as an intent
  patch(Member, { club: 'c', id: 1 }, { nick: 'x' })
  // @ts-expect-error encrypted properties are not merged
  await sealed.patch({ group: 'g', id: 1 }, { secret: 'x' })
  // @ts-expect-error nor large ones
  await sealed.patch({ group: 'g', id: 1 }, { photo: 'x' })

  // ---- queries
  // @ts-expect-error only leading parts: the employee comes before the year
  reviews.query({ department: 'Sales' }, { prefix: { year: 2012 } })
  // @ts-expect-error a range of parts of this key
  reviews.query({ department: 'Sales' }, { from: { rating: 1 } })
  // @ts-expect-error encrypted properties cannot be filtered
  sealed.query({ group: 'g' }, { where: (it) => it.secret.eq('x') })
  // @ts-expect-error what is in the key is asked for by key
  employees.query({ department: 'Sales' }, { where: (it) => it.id.gt(5) })
  // @ts-expect-error compared with its own type only
  employees.query({ department: 'Sales' }, { where: (it) => it.age.eq('5') })
  // @ts-expect-error booleans have no order
  allTypes.query({ group: 'g' }, { where: (it) => it.flag.lt(true) })
  // @ts-expect-error only texts have a beginning
  allTypes.query({ group: 'g' }, { where: (it) => and(it.small.startsWith('5'), it.text.startsWith('5')) })
  // @ts-expect-error only properties can be selected
  employees.query({ department: 'Sales' }, { select: ['shoe'] })
  const [selected] = await employees.query({ department: 'Sales' }, { select: ['email'] }).toArray()
  // @ts-expect-error what was not selected was not read
  selected?.name.toString()
  // @ts-expect-error the index holds the e-mail and the keys only
  ;(await employees.by('byName').get({ department: 'Sales', name: 'Jones', id: 1 }))?.salary?.toString()
  // @ts-expect-error a scan has no range of rows: it reads the whole table
  employees.scan({ prefix: { id: 1 } })

  // ---- unions
  for await (const each of table.anyOf(Employee, Review).query({ department: 'Sales' })) {
    // @ts-expect-error only employees have an e-mail
    each.email.at(0)
    if (each.type === 'Employee') each.email.at(0)
    // @ts-expect-error an unknown row is raw
    if (each.type === undefined) each.department.toString()
  }
}

/** The same kinds of use, allowed: so that what is above is refused for the reason given. */
export async function allowed(): Promise<void> {
  await employees.insert({ ...jones, email: 'j', name: 'Jones', age: undefined })
  await claims.insert({ office: 'a', at: new Date(), amount: 5n })
  await claims.insert({ office: 'a', at: Instant.from(new Date()), amount: 5n, id: '…' })
  await members.patch({ club: 'c', id: 1 }, { points: 2 })
  await sealed.patch({ group: 'g', id: 1 }, { open: 'x' })
  await employees.change(jones, (it) => it && { ...it, email: 'x', id: 2 })
  reviews.query({ department: 'Sales' }, { prefix: { employee: 1 } })
  reviews.query({ department: 'Sales' }, { prefix: { employee: 1, year: 2012 } })
  reviews.query({ department: 'Sales' }, { from: { employee: 1 }, until: { employee: 2, year: 2012 } })
  employees.query({ department: 'Sales' }, { where: (it) => and(it.age.gt(5), it.email.startsWith('a')) })
  employees.by('byEmail').query({ department: 'Sales' }, { startsWith: { email: 'a' } })
  allTypes.query({ group: 'g' }, { where: (it) => it.at.lt(new Date()), select: ['at'] })
  table.of(Signin).query({})
  const [selected] = await employees.query({ department: 'Sales' }, { select: ['email'] }).toArray()
  selected?.email.toString()
  selected?.etag.toString()
  const copy = await employees.by('byName').get({ department: 'Sales', name: 'Jones', id: 1 })
  copy?.email.toString()
  dateTime().fresh().optional()
  await colleagues.patch(jones, { remark: 'x' })
  ;(await colleagues.by('byEmail').get({ email: 'j' }))?.age?.toString()
  ;(await colleagues.by('byEmail').get({ email: 'j' }, { verify: true }))?.remark?.toString()
  colleagues.by('byEmail').query({}, { verify: true, startsWith: { email: 'j' } })
  ;(await colleagues.by('namesakes').get({ department: 'Sales', name: 'J' }))[0]?.remark?.toString()
  await colleagues.by('allNamesakes').keys({ name: 'J' })
  copies({
    from: Employee,
    into: Site,
    link: { department: 'managerDepartment', id: 'manager' },
    properties: { managerName: 'name' },
  })
}
