/** The guide's company, as tests need it: each definition uses another part of what a definition can say. */
import {
  asc,
  binary,
  boolean,
  copies,
  dateTime,
  desc,
  digits,
  double,
  entity,
  guid,
  hash,
  int32,
  int64,
  key,
  spread,
  string,
  text,
} from '../../src/index.ts'

export const Employee = entity('Employee', {
  properties: {
    department: string(),
    id: int32(),
    email: string(),
    name: string(),
    age: int32().optional(),
    salary: double().optional(),
  },
  partition: key(text('department')),
  row: key('empid_', digits('id', 6)),
  indexes: {
    byEmail: { row: key('email_', text('email')) },
    byName: { row: key('name_', text('name'), digits('id', 6)), copy: ['email'] },
  },
})

/** One index whose copies hold little, so that a patch has something left to touch. */
export const Member = entity('Member', {
  properties: {
    club: string(),
    id: int32(),
    nick: string(),
    points: int32().optional(),
    city: string().optional(),
  },
  partition: key(text('club')),
  row: key('id_', digits('id', 6)),
  indexes: { byNick: { row: key('nick_', text('nick')), copy: ['city'] } },
})

export const Department = entity('Department', {
  properties: { department: string(), title: string(), staff: int32() },
  partition: key(text('department')),
  row: key('dept'),
})

export const Review = entity('Review', {
  properties: {
    department: string(),
    employee: int32(),
    year: int32(),
    rating: double(),
    remark: string().optional(),
  },
  partition: key(text('department')),
  row: key('review_', digits('employee', 6), '_', digits('year', 4)),
})

export const Claim = entity('Claim', {
  properties: { office: string(), at: dateTime(), id: guid().fresh(), amount: int64() },
  partition: key(text('office')),
  row: key(desc('at'), '_', text('id')),
})

export const Signin = entity('Signin', {
  properties: { user: string(), at: dateTime().fresh(), address: string() },
  partition: key('signin_', spread(4, 'user')),
  row: key(asc('at'), text('user')),
})

export const Session = entity('Session', {
  properties: { token: string(), user: string() },
  partition: key(hash('token')),
  row: key('session'),
})

export const AllTypes = entity('AllTypes', {
  properties: {
    group: string(),
    id: int32(),
    text: string().optional(),
    flag: boolean().optional(),
    small: int32().optional(),
    large: int64().optional(),
    real: double().optional(),
    at: dateTime().optional(),
    guid: guid().optional(),
    bytes: binary().optional(),
  },
  partition: key(text('group')),
  row: key(digits('id', 9)),
})

/** Shows its lead in one read. */
export const Team = entity('Team', {
  properties: {
    department: string(),
    team: string(),
    budget: int32().optional(),
    lead: int32().optional(),
    leadName: string().optional(),
    leadAge: int32().optional(),
  },
  partition: key(text('department')),
  row: key('team_', text('team')),
})

export const leadOfTeam = copies({
  from: Employee,
  into: Team,
  link: { id: 'lead' },
  properties: { leadName: 'name', leadAge: 'age' },
})

/** Everything that is kept outside the partition, and a list inside it. */
export const Colleague = entity('Colleague', {
  properties: {
    department: string(),
    id: int32(),
    email: string(),
    name: string(),
    age: int32().optional(),
    remark: string().optional(),
  },
  partition: key(text('department')),
  row: key('empid_', digits('id', 6)),
  indexes: {
    byEmail: {
      partition: key('mail_', spread(2, 'email')),
      row: key('mail_', text('email')),
      copy: ['name', 'age'],
    },
    byAge: {
      partition: key('ages'),
      row: key(text('name'), text('department'), digits('id', 6)),
      table: 'ages',
      copy: ['age'],
    },
    namesakes: { row: key('name_', text('name')), list: true },
    allNamesakes: { partition: key('names'), row: key('name_', text('name')), list: true, table: 'names' },
  },
})

/** In a partition of its own, and shows a manager who is an employee of any department. */
export const Site = entity('Site', {
  properties: {
    site: string(),
    managerDepartment: string().optional(),
    manager: int32().optional(),
    managerName: string().optional(),
    managerAge: int32().optional(),
    rooms: int32().optional(),
  },
  partition: key('sites'),
  row: key('site_', text('site')),
})

export const managerOfSite = copies({
  from: Employee,
  into: Site,
  link: { department: 'managerDepartment', id: 'manager' },
  properties: { managerName: 'name', managerAge: 'age' },
})
