/** Requests with the text their clients signed and the signature they sent. */
export type Vector = readonly [
  id: string,
  scheme: 'sharedkey' | 'sharedkeylite',
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  text: string,
  signature: string,
  /** The development key when left out. */
  key?: string,
]

/** Beside the development key, for rotation. */
export const secondKey =
  'dGVzdC1vbmx5LXNlY29uZC1hY2NvdW50LWtleS1mb3Itcm90YXRpb24tdmVjdG9ycy0wMTIzNDU2Nzg5YWJjZA=='

/** When the vectors were signed. */
export const signedAt = '2025-01-15T08:30:00Z'

/** Targets without the account are host style. */
// biome-ignore format: a table reads in columns
export const vectors: readonly Vector[] = [
  ['SK-1', 'sharedkey', 'POST', '/devstoreaccount1/Tables', { 'content-type': 'application/json;odata=nometadata', 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'POST\n\napplication/json;odata=nometadata\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/Tables', 'uB5oepwEiNDbhDeOMBvZqPQvuBxBL8qOH/9+KGL2AJI='],
  ['SK-2', 'sharedkey', 'GET', "/Tables?$filter=TableName%20eq%20'abc'", { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'GET\n\n\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/Tables', 'Avz9hOyqaTS89c3k4y/rbgb2uosDKG0Zi3vdACkDIes='],
  ['SK-3', 'sharedkey', 'PUT', '/devstoreaccount1/Employees?comp=acl', { 'content-type': 'application/xml', 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'PUT\n\napplication/xml\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/Employees?comp=acl', 'n1/dTCjPRstAOwCIdZqgPj8W1EpTGAN6foTdbiep+Vs='],
  ['SK-4', 'sharedkey', 'GET', '/devstoreaccount1/?restype=service&comp=properties', { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'GET\n\n\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/?comp=properties', '9DlPJFnbn6S0eMq+kjnJI8aOQCsw/sVRexGI+hZiwvs='],
  ['SK-5', 'sharedkey', 'GET', '/devstoreaccount1?restype=service&comp=properties', { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'GET\n\n\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1?comp=properties', '7KwQiKYnEQrnhsd2a2OGY3zGhSLgTv4uAvK8QNv3n6k='],
  ['SK-6', 'sharedkey', 'GET', '/?restype=service&comp=properties', { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'GET\n\n\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/?comp=properties', 'QmzPum3uSYBF6WHT7DzMrOiIYcb+Z9LRkdUMt0X92h4='],
  ['SK-7', 'sharedkey', 'POST', '/devstoreaccount1/$batch', { 'content-type': 'multipart/mixed; boundary=batch_a1b2c3d4-0000-4000-8000-000000000001', 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'POST\n\nmultipart/mixed; boundary=batch_a1b2c3d4-0000-4000-8000-000000000001\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/$batch', 'rKDFZBfPw8MoXUwuym9IhR7gybK5AnnypT3eg2sTbMg='],
  ['SK-8', 'sharedkey', 'DELETE', "/devstoreaccount1/Employees(PartitionKey='O''Neil%20%26%20Co',RowKey='%E6%97%A5%E6%9C%AC')", { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    "DELETE\n\n\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/Employees(PartitionKey='O''Neil%20%26%20Co',RowKey='%E6%97%A5%E6%9C%AC')", '1WQbpMoic9dGTgZ/RKpFMlPdEdJ+Y+JdYAIfTN8BNh8='],
  ['SK-9', 'sharedkey', 'POST', '/devstoreaccount1/Employees', { 'content-md5': 'XUFAKrxLKna5cZ2REBfFkg==', 'content-type': 'application/json', date: 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'POST\nXUFAKrxLKna5cZ2REBfFkg==\napplication/json\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/Employees', '4HY7R5XCNHu6XM3U/SCJG2x9NdHdhatGc2qx/Mz/8eI='],
  ['SK-10', 'sharedkey', 'GET', '/devstoreaccount1/Employees()', { date: 'Wed, 15 Jan 2025 08:29:57 GMT', 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'GET\n\n\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/Employees()', '2D0hAS1OB4tvFgvl+hd9uAc5xjWfbY9rqIuQ2tR44Ew='],
  ['SK-11', 'sharedkey', 'POST', "/devstoreaccount1/Employees(PartitionKey='p',RowKey='r')", { 'x-http-method': 'MERGE', 'content-type': 'application/json', 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    "POST\n\napplication/json\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/Employees(PartitionKey='p',RowKey='r')", 'IBfYEpzK3nZLUroy/zq3eg+TtaE6r6GQqQCIdtFI+C4='],
  ['SK-12', 'sharedkey', 'GET', '/devstoreaccount1/Tables', { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'GET\n\n\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/Tables', 'vdrczX6mePuxoHDm9E4AFIc5wrWSd0n4NOA4gMy2r0Y=', secondKey],
  ['SK-13', 'sharedkey', 'GET', '/devstoreaccount1-secondary/?restype=service&comp=stats', { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'GET\n\n\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1-secondary/?comp=stats', 'sCv4SOxqLBV5s5PQEOO3GdivQ6b10CtmknucCYlBPxQ='],
  ['SK-14', 'sharedkey', 'GET', '/devstoreaccount1-secondary/?restype=service&comp=stats', { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'GET\n\n\nWed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/?comp=stats', 'LFLfbJyv2CRtv8TVUej6TAE7YH5IhXkYpmHEK2J3z88='],
  ['SKL-1', 'sharedkeylite', 'POST', '/devstoreaccount1/Tables', { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'Wed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/Tables', 'NbCTVnT8dRG1Izp8nmrWWpPv2v0zENgiOnKn0jyP2ek='],
  ['SKL-2', 'sharedkeylite', 'GET', "/Employees(PartitionKey='p1',RowKey='r1')", { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    "Wed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/Employees(PartitionKey='p1',RowKey='r1')", 'ZCLMOjsU7dI0L/J5dYLSRfdVZFFGvdLD9IG4fmhBlt8='],
  ['SKL-3', 'sharedkeylite', 'POST', '/devstoreaccount1/$batch', { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'Wed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/$batch', 'WRfdX1m02raKoqYrPhzqAeuaSfXT0tKtqmUooXLG6vM='],
  ['SKL-4', 'sharedkeylite', 'GET', '/devstoreaccount1?restype=service&comp=properties', { 'x-ms-date': 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'Wed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1?comp=properties', 'hxUjgFACorGRMzP+Kh9U2Cz8LedvGjN41jomU3pL/d8='],
  ['SKL-5', 'sharedkeylite', 'GET', '/devstoreaccount1/Employees?comp=acl', { date: 'Wed, 15 Jan 2025 08:30:00 GMT' },
    'Wed, 15 Jan 2025 08:30:00 GMT\n/devstoreaccount1/devstoreaccount1/Employees?comp=acl', 'FZDX3YRGqk5r6b9KN8B7vOA52fS7XdTZQMNMqRB4+jo='],
]

/** Signatures that official clients' tests expect, and such as callers have posted in public reports. */
// biome-ignore format: a table reads in columns
export const foreignVectors: readonly Vector[] = [
  ['JS-1', 'sharedkeylite', 'GET', "/tablename(PartitionKey='p1',RowKey='r1')", { 'x-ms-date': 'Thu, 03 Sep 2020 18:50:45 GMT' },
    "Thu, 03 Sep 2020 18:50:45 GMT\n/accountName/tablename(PartitionKey='p1',RowKey='r1')", 'mzKy4ZjXbTEueNQp2cxou+kKrfCnWpdau5I6kJIO58g=', 'accountKey'],
  ['PUB-1', 'sharedkey', 'GET', '/devstoreaccount1/Todo?comp=acl', { 'x-ms-date': 'Thu, 24 Feb 2022 15:34:17 GMT' },
    'GET\n\n\nThu, 24 Feb 2022 15:34:17 GMT\n/devstoreaccount1/devstoreaccount1/Todo?comp=acl', 'sUNi3ygCN1YCaUfjbsOZHy5ypoJMR7o6m1w0ods6Aiw='],
  ['PUB-2', 'sharedkey', 'POST', '/devstoreaccount1/Tables()', { 'content-type': 'application/json', 'x-ms-date': 'Sat, 05 Jun 2021 23:40:54 GMT' },
    'POST\n\napplication/json\nSat, 05 Jun 2021 23:40:54 GMT\n/devstoreaccount1/devstoreaccount1/Tables()', 'URQdOMxn4AEv5sCjiqL5BzHj4lJayHMC0Cg2xBJXpyk='],
  ['PUB-3', 'sharedkeylite', 'GET', "/devstoreaccount1/table0(PartitionKey='%F0%A4%AD%A2PK2',RowKey='%F0%90%90%B7RK2')", { 'x-ms-date': 'Mon, 13 Dec 2021 18:29:45 GMT' },
    "Mon, 13 Dec 2021 18:29:45 GMT\n/devstoreaccount1/devstoreaccount1/table0(PartitionKey='%F0%A4%AD%A2PK2',RowKey='%F0%90%90%B7RK2')", 'xwB+BPilGf+c8nckZuS+6VyZPq6Jl6a7P4o7DqyTXU4='],
  ['PUB-4', 'sharedkeylite', 'GET', '/devstoreaccount1/test', { 'x-ms-date': 'Sat, 22 May 2021 22:49:50 GMT' },
    'Sat, 22 May 2021 22:49:50 GMT\n/devstoreaccount1/devstoreaccount1/test', 'jiUVQ7VyIq74T0M3pPlqNZ7+cb8wTTamlhqH+jt6rzU='],
]
