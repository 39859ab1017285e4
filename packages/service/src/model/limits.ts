/** Every number the protocol or this service bounds. Sizes are bytes unless the name says otherwise. */
export const limits = {
  keyCharactersMax: 1024,
  /** At one to three bytes a UTF-16 unit: all keys of 512 units fit, and all ASCII keys of 1,024. */
  keyBytesMax: 1990,
  propertiesMax: 252,
  propertyNameCharactersMax: 255,
  stringCharactersMax: 32_768,
  binaryBytesMax: 65_536,
  entityBytesMax: 1_048_576,
  requestBodyBytesMax: 4_194_304,
  tableNameCharactersMin: 3,
  tableNameCharactersMax: 63,
  groupMutationsMax: 100,
  pageRowsMax: 1000,
  selectNamesMax: 255,
  queryParametersMax: 64,
  requestLineBytesMax: 65_536,
  /** Request line and headers together. */
  headerBytesMax: 98_304,
  /** Headers of one operation in a batch, and of the MIME part around it. */
  partHeadersMax: 100,
  clientRequestIdCharactersMax: 1024,
  xmlBodyBytesMax: 65_536,
  xmlDepthMax: 8,
  xmlElementsMax: 1000,
  accessPoliciesMax: 5,
  accessPolicyIdCharactersMax: 64,
  corsRulesMax: 5,
  corsOriginsMax: 64,
  corsHeadersMax: 64,
  corsHeaderPrefixesMax: 2,
  corsNameCharactersMax: 256,
  /** All rules of an account together, without XML tags. */
  corsCharactersMax: 2048,
  retentionDaysMax: 365,
} as const
