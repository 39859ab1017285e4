/** Shared access signatures that must come out exactly so. */
export interface Vector {
  readonly id: string
  readonly kind?: 'ServiceSAS' | 'AccountSAS'
  readonly key?: string
  /** As a client would append it after `?`. */
  readonly token?: string
  readonly stringToSign: string
  readonly signature: string
}

/** Computed for the specification of this service, with the development key. */
// biome-ignore format: one vector a line
export const computed: readonly Vector[] = [
  {"id": "SAS-1", "kind": "ServiceSAS", "stringToSign": "r\n\n2035-01-01T00:00:00Z\n/table/devstoreaccount1/employees\n\n\n\n2019-02-02\n\n\n\n", "signature": "7cnioh7Lhbw5Ba/lIpf0vmOhQKn6zId27aGWqgA9Xfo=", "token": "sv=2019-02-02&se=2035-01-01T00%3A00%3A00Z&sp=r&tn=Employees&sig=7cnioh7Lhbw5Ba%2FlIpf0vmOhQKn6zId27aGWqgA9Xfo%3D"},
  {"id": "SAS-2", "kind": "ServiceSAS", "stringToSign": "raud\n2025-01-01T00:00:00Z\n2035-01-01T00:00:00Z\n/table/devstoreaccount1/employees\n\n168.1.5.60-168.1.5.70\nhttps\n2019-02-02\n\n\n\n", "signature": "PDakEIzaMuPRnkZpvc8y+YT5Z1GOYjlI8Wyh3Dt1J4U=", "token": "sv=2019-02-02&st=2025-01-01T00%3A00%3A00Z&se=2035-01-01T00%3A00%3A00Z&sip=168.1.5.60-168.1.5.70&spr=https&sp=raud&tn=Employees&sig=PDakEIzaMuPRnkZpvc8y%2BYT5Z1GOYjlI8Wyh3Dt1J4U%3D"},
  {"id": "SAS-3", "kind": "ServiceSAS", "stringToSign": "\n\n\n/table/devstoreaccount1/employees\nreader-policy\n\n\n2019-02-02\n\n\n\n", "signature": "mGvTblpJ2dLmRzjvAeD2kpKwCKE6JkkAsWm47rWmYLM=", "token": "sv=2019-02-02&si=reader-policy&tn=Employees&sig=mGvTblpJ2dLmRzjvAeD2kpKwCKE6JkkAsWm47rWmYLM%3D"},
  {"id": "SAS-4", "kind": "ServiceSAS", "stringToSign": "rau\n\n2035-01-01T00:00:00Z\n/table/devstoreaccount1/employees\n\n\n\n2020-12-06\nCoho Winery\nAuburn\nCoho Winery\nZürich", "signature": "wC3qJXJhgljtZlVD7U3xSyLIQY5zRwY8iSgBoYbxt8k=", "token": "sv=2020-12-06&se=2035-01-01T00%3A00%3A00Z&sp=rau&tn=Employees&spk=Coho%20Winery&srk=Auburn&epk=Coho%20Winery&erk=Z%C3%BCrich&sig=wC3qJXJhgljtZlVD7U3xSyLIQY5zRwY8iSgBoYbxt8k%3D"},
  {"id": "SAS-5", "kind": "ServiceSAS", "stringToSign": "r\n\n2035-01-01\n/table/devstoreaccount1/employees\n\n\n\n2017-07-29\nM\n\n\n", "signature": "T/koOfp2z2a1q0w42vFvMsWCkfV+2VrU0pO2NkayHY0=", "token": "sv=2017-07-29&se=2035-01-01&sp=r&tn=employees&spk=M&sig=T%2FkoOfp2z2a1q0w42vFvMsWCkfV%2B2VrU0pO2NkayHY0%3D"},
  {"id": "SAS-6", "kind": "ServiceSAS", "stringToSign": "r\n2015-07-01T08:49Z\n2035-07-02T08:49Z\n/table/devstoreaccount1/employees\n\n2015-02-21\nCoho Winery\nAuburn\nCoho Winery\nSeattle", "signature": "HZjdcGgKG12FxEjNKYpklnV3/9nkoJlbClAvrqmHUFE=", "token": "sv=2015-02-21&st=2015-07-01T08%3A49Z&se=2035-07-02T08%3A49Z&sp=r&tn=Employees&spk=Coho%20Winery&srk=Auburn&epk=Coho%20Winery&erk=Seattle&sig=HZjdcGgKG12FxEjNKYpklnV3%2F9nkoJlbClAvrqmHUFE%3D"},
  {"id": "SAS-7", "kind": "ServiceSAS", "stringToSign": "r\n\n2035-01-01T00:00:00Z\n/devstoreaccount1/employees\n\n2013-08-15\n\n\n\n", "signature": "H/4/ACehr+j/tXzYKvun154A580qPJKTHoOTah/s/Fw=", "token": "sv=2013-08-15&se=2035-01-01T00%3A00%3A00Z&sp=r&tn=Employees&sig=H%2F4%2FACehr%2Bj%2FtXzYKvun154A580qPJKTHoOTah%2Fs%2FFw%3D"},
  {"id": "SAS-8", "kind": "ServiceSAS", "stringToSign": "r\n\n2020-01-01T00:00:00Z\n/table/devstoreaccount1/employees\n\n\n\n2019-02-02\n\n\n\n", "signature": "XMH8Nd7zTKv+N2NnUNRfuoXrF8ySp8rJV3rLiZJzaF4=", "token": "sv=2019-02-02&se=2020-01-01T00%3A00%3A00Z&sp=r&tn=Employees&sig=XMH8Nd7zTKv%2BN2NnUNRfuoXrF8ySp8rJV3rLiZJzaF4%3D"},
  {"id": "ASAS-1", "kind": "AccountSAS", "stringToSign": "devstoreaccount1\nrwdlau\nt\nsco\n\n2035-01-01T00:00:00Z\n\n\n2019-02-02\n", "signature": "/dxzvmrSc05VvNKT3SRd+PdMksOe6MIR3stqSrkQrS4=", "token": "sv=2019-02-02&ss=t&srt=sco&sp=rwdlau&se=2035-01-01T00%3A00%3A00Z&sig=%2FdxzvmrSc05VvNKT3SRd%2BPdMksOe6MIR3stqSrkQrS4%3D"},
  {"id": "ASAS-2", "kind": "AccountSAS", "stringToSign": "devstoreaccount1\nrwdlacu\nbqtf\nsco\n2025-01-01T00:00:00Z\n2035-01-01T00:00:00Z\n\nhttps,http\n2022-11-02\n\n", "signature": "T3hc59i7w3kNfigZFOCO1ualrDVv3L8py9FtT5svBJ4=", "token": "sv=2022-11-02&ss=bqtf&srt=sco&sp=rwdlacu&st=2025-01-01T00%3A00%3A00Z&se=2035-01-01T00%3A00%3A00Z&spr=https%2Chttp&sig=T3hc59i7w3kNfigZFOCO1ualrDVv3L8py9FtT5svBJ4%3D"},
  {"id": "ASAS-3", "kind": "AccountSAS", "stringToSign": "devstoreaccount1\nrl\nt\nsco\n\n2035-01-01T00:00:00Z\n\nhttps\n2022-11-02\nscope1\n", "signature": "EDPZpBgululyv2XLHGnjiufSaFNLKodjbGPmLYDv15Q=", "token": "sv=2022-11-02&ss=t&srt=sco&sp=rl&se=2035-01-01T00%3A00%3A00Z&spr=https&ses=scope1&sig=EDPZpBgululyv2XLHGnjiufSaFNLKodjbGPmLYDv15Q%3D"},
  {"id": "ASAS-4", "kind": "AccountSAS", "stringToSign": "devstoreaccount1\nrwdlau\nt\ns\n\n2035-01-01T00:00:00Z\n\n\n2019-02-02\n", "signature": "D5dCcV6jlLm5jhnVWN65pC1Nwp2tJZWWGUv0fPP7IhQ=", "token": "sv=2019-02-02&ss=t&srt=s&sp=rwdlau&se=2035-01-01T00%3A00%3A00Z&sig=D5dCcV6jlLm5jhnVWN65pC1Nwp2tJZWWGUv0fPP7IhQ%3D"},
  {"id": "ASAS-5", "kind": "AccountSAS", "stringToSign": "devstoreaccount1\nrwdlau\nb\nsco\n\n2035-01-01T00:00:00Z\n\n\n2019-02-02\n", "signature": "rfEIMywb/3lKX6KMWbrlWCXYFyAaKwyiHlCj3qw1DoA=", "token": "sv=2019-02-02&ss=b&srt=sco&sp=rwdlau&se=2035-01-01T00%3A00%3A00Z&sig=rfEIMywb%2F3lKX6KMWbrlWCXYFyAaKwyiHlCj3qw1DoA%3D"},
]

/** From the unit tests of official clients. Their keys are not always well-formed base64. */
// biome-ignore format: one vector a line
export const fromClients: readonly Vector[] = [
  {"id": "JS-2", "key": "keySecret", "stringToSign": "r\n\n2021-12-12T01:00:00Z\n/table/keyName/testtable\n\n\n\n2019-02-02\n\n\n\n", "signature": "lZxPmk+pMuu2MRXxeTZoBV6m3eobZKuIkYcHLDdDt2Q="},
  {"id": "JS-3", "key": "keySecret", "stringToSign": "ad\n\n2021-12-12T01:00:00Z\n/table/keyName/testtable\n\n\n\n2019-02-02\n\n\n\n", "signature": "bf2oeXb/VL9hzbd5ZWngdNJoR+kyDp0vPZz/DGJt1d4="},
  {"id": "JS-4", "key": "keySecret", "stringToSign": "\n\n\n/table/keyName/testtable\nMyAccessPolicy\n\n\n2019-02-02\n\n\n\n", "signature": "bXpQx/OSDR8oGiqi1QJekrwS5MBf+di6x/Clf9QVKgg="},
  {"id": "JS-5", "key": "keySecret", "stringToSign": "r\n\n2021-12-12T01:00:00Z\n/table/keyName/testtable\n\n\n\n2019-02-02\nP1\n1\n\n", "signature": "FmE9Q8KiLIJUxmY2k8NHCSwApy2Y1VY17Mls1dIIJcI="},
  {"id": "JS-6", "key": "keySecret", "stringToSign": "r\n\n2021-12-12T01:00:00Z\n/table/keyName/testtable\n\n\n\n2019-02-02\n\n\nP1\n1", "signature": "h0xXlQhXumE5Litei9gWdY3ECCORubPLUFqcbWa6Tus="},
  {"id": "JS-7", "key": "keySecret", "stringToSign": "keyName\nrl\nt\nsco\n\n2021-12-12T01:00:00Z\n\n\n2019-02-02\n", "signature": "Yuhy3+Spfj+FWmSoxa1GAxtX6IOKvX6qGnHIKn/LHD0="},
  {"id": "GO-1", "key": "ZmFrZS1rZXk=", "stringToSign": "r\n2023-11-08T15:04:05Z\n2023-11-08T16:04:05Z\n/table/fake-account/fake-table\n\n\nhttps\n2019-02-02\n\n\n\n", "signature": "WLeRe04Jnm2q7wuetbkWgFDtdWg+iE7RKwUSLbecPjE="},
]
