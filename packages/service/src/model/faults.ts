/** Every refusal a client can meet. One row each: status and the first line of the message. */

const authenticateText =
  'Server failed to authenticate the request. Please refer to the information in the www-authenticate header.'

// biome-ignore format: a table reads in columns
export const faults = {
  CommandsInBatchActOnDifferentPartitions: [400, 'All commands in a batch must operate on same entity group.'],
  DuplicatePropertiesSpecified: [400, 'A property is specified more than one time.'],
  EntityTooLarge: [400, 'The entity is larger than the maximum allowed size (1MB).'],
  HostInformationNotPresent: [400, 'The required host information is not present in the request. You must send a non-empty Host header or include the absolute URI in the request line.'],
  InvalidAuthenticationInfo: [400, 'Authentication information is not given in the correct format. Check the value of Authorization header.'],
  InvalidDuplicateRow: [400, 'The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.'],
  InvalidHeaderValue: [400, 'The value for one of the HTTP headers is not in the correct format.'],
  InvalidInput: [400, 'One of the request inputs is not valid.'],
  InvalidQueryParameterValue: [400, 'Value for one of the query parameters specified in the request URI is invalid.'],
  InvalidResourceName: [400, 'The specifed resource name contains invalid characters.'],
  InvalidUri: [400, 'The requested URI does not represent any resource on the server.'],
  InvalidValueType: [400, 'The value specified is invalid.'],
  InvalidXmlDocument: [400, 'XML specified is not syntactically valid.'],
  InvalidXmlNodeValue: [400, 'The value for one of the XML nodes is not in the correct format.'],
  Md5Mismatch: [400, 'The MD5 value specified in the request did not match with the MD5 value calculated by the server.'],
  MissingRequiredHeader: [400, 'A required HTTP header was not specified.'],
  OutOfRangeInput: [400, 'One of the request inputs is out of range.'],
  OutOfRangeQueryParameterValue: [400, 'One of the query parameters specified in the request URI is outside the permissible range.'],
  PropertiesNeedValue: [400, 'The values are not specified for all properties in the entity.'],
  PropertyNameInvalid: [400, 'The property name is invalid.'],
  PropertyNameTooLong: [400, 'The property name exceeds the maximum allowed length (255).'],
  PropertyValueTooLarge: [400, 'The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.'],
  TooManyProperties: [400, 'The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties.'],
  XMethodIncorrectCount: [400, 'More than one X-HTTP-Method is specified.'],
  XMethodIncorrectValue: [400, 'The specified X-HTTP-Method is invalid.'],
  XMethodNotUsingPost: [400, 'The request uses X-HTTP-Method with an HTTP verb other than POST.'],
  NoAuthenticationInformation: [401, authenticateText],
  AccountIsDisabled: [403, 'The specified account is disabled.'],
  AuthenticationFailed: [403, 'Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.'],
  AuthorizationFailure: [403, 'This request is not authorized to perform this operation.'],
  AuthorizationPermissionMismatch: [403, 'This request is not authorized to perform this operation using this permission.'],
  AuthorizationProtocolMismatch: [403, 'This request is not authorized to perform this operation using this protocol.'],
  AuthorizationResourceTypeMismatch: [403, 'This request is not authorized to perform this operation using this resource type.'],
  AuthorizationServiceMismatch: [403, 'This request is not authorized to perform this operation using this service.'],
  AuthorizationSourceIPMismatch: [403, 'This request is not authorized to perform this operation using this source IP {address}.'],
  CorsPreflightFailure: [403, 'CORS not enabled or no matching rule found for this request.'],
  InsufficientAccountPermissions: [403, 'The account being accessed does not have sufficient permissions to execute this operation.'],
  ResourceNotFound: [404, 'The specified resource does not exist.'],
  TableNotFound: [404, 'The table specified does not exist.'],
  MethodNotAllowed: [405, 'The requested method is not allowed on the specified resource.'],
  UnsupportedHttpVerb: [405, "The resource doesn't support specified Http Verb."],
  RequestTimeout: [408, 'The request was not received within the permitted time.'],
  EntityAlreadyExists: [409, 'The specified entity already exists.'],
  TableAlreadyExists: [409, 'The table specified already exists.'],
  TableBeingDeleted: [409, 'The specified table is being deleted. Try operation later.'],
  MissingContentLengthHeader: [411, 'The Content-Length header was not specified.'],
  ConditionNotMet: [412, 'The condition specified using HTTP conditional header(s) is not met.'],
  UpdateConditionNotSatisfied: [412, 'The update condition specified in the request was not satisfied.'],
  RequestBodyTooLarge: [413, 'The request body is too large and exceeds the maximum permissible limit.'],
  UriTooLong: [414, 'The target of the request is longer than this service reads.'],
  AtomFormatNotSupported: [415, 'Atom format is not supported.'],
  JsonVerboseFormatNotSupported: [415, 'JSON Verbose format is not supported.'],
  MediaTypeNotSupported: [415, 'None of the provided media types are supported'],
  InternalError: [500, 'The server encountered an internal error. Please retry the request.'],
  OperationTimedOut: [500, 'The operation could not be completed within the permitted time.'],
  NotImplemented: [501, 'The requested operation is not implemented on the specified resource.'],
  ServerBusy: [503, 'The server is busy.'],
} as const satisfies Record<string, readonly [status: number, text: string]>

export type FaultCode = keyof typeof faults

/** InvalidInput speaks of many things. These are its other texts that need no arguments. */
export const inputTexts = {
  conversion: 'An error occurred while processing this request.',
  querySyntax: 'Bad Request - Error in query syntax.',
} as const

/** A refusal that only the client will read. What went wrong inside stays in `cause`, for the log. */
export class Fault extends Error {
  readonly code: FaultCode
  readonly status: number

  constructor(code: FaultCode, options: { readonly text?: string; readonly cause?: unknown } = {}) {
    const [status, text] = faults[code]
    super(options.text ?? text, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = status
  }
}
