package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var scenarios = []struct {
	name string
	run  func(*session)
}{
	{"connect-connection-string", connectConnectionString},
	{"connect-account-key", connectAccountKey},
	{"connect-sas-url", connectSasURL},
	{"tables", tables},
	{"types", types},
	{"insert-get", insertGet},
	{"merge", merge},
	{"replace", replace},
	{"upsert-merge", upsertMerge},
	{"upsert-replace", upsertReplace},
	{"delete", deleteEntity},
	{"etags", etags},
	{"select", selectProperties},
	{"filters", filters},
	{"paging", paging},
	{"group", group},
	{"group-failures", groupFailures},
	{"access-policies", accessPolicies},
	{"policy-sas", policySas},
	{"table-sas", tableSas},
	{"service-properties", serviceProperties},
	{"cors", cors},
	{"statistics", statistics},
	{"keys", keys},
	{"errors", serviceErrors},
	{"retries", retries},
}

type outcome struct {
	Scenario string `json:"scenario"`
	OK       bool   `json:"ok"`
	Error    string `json:"error,omitempty"`
	Gap      string `json:"gap,omitempty"`
}

func runScenarios(s *session) {
	for _, scenario := range scenarios {
		printLine(runScenario(s, scenario.name, scenario.run))
	}
}

func runScenario(s *session, name string, run func(*session)) (result outcome) {
	defer func() {
		if failed := recover(); failed != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s\n", name, failed, debug.Stack())
			result = outcome{Scenario: name, Error: failureOf(failed).Error()}
		}
	}()
	s.gap = ""
	run(s)
	return outcome{Scenario: name, OK: true, Gap: s.gap}
}

func connectConnectionString(s *session) {
	useTable(s, must(aztables.NewServiceClientFromConnectionString(s.connectionString, nil)), "viaConnectionString")
}

func connectAccountKey(s *session) {
	credential := must(aztables.NewSharedKeyCredential(s.account, s.key))
	useTable(s, must(aztables.NewServiceClientWithSharedKey(s.url, credential, nil)), "viaAccountKey")
}

func connectSasURL(s *session) {
	useTable(s, must(aztables.NewServiceClientWithNoCredential(s.sasURL, nil)), "viaSasUrl")
}

func useTable(s *session, service *aztables.ServiceClient, name string) {
	must(service.CreateTable(ctx, s.prefix+name, nil))
	table := service.NewClient(s.prefix + name)
	must(table.AddEntity(ctx, entity("p", "r", properties{"Name": "Ada"}), nil))
	equal("Name", any("Ada"), get(table, "p", "r").Properties["Name"])
	must(table.SubmitTransaction(ctx, []aztables.TransactionAction{action(aztables.TransactionTypeAdd, "grouped", nil)}, nil))
	equal("rows", []string{"grouped", "r"}, rowKeys(query(table, nil)))
	must(service.DeleteTable(ctx, s.prefix+name, nil))
}

func tables(s *session) {
	name := s.prefix + "tables"
	equal("name of the created table", name, *must(s.service.CreateTable(ctx, name, nil)).TableName)
	_, err := s.service.CreateTable(ctx, name, nil)
	refused(err, http.StatusConflict, aztables.TableAlreadyExists)

	if !slices.Contains(tableNames(s, nil), name) {
		panic(errors.New("the table is not listed"))
	}
	byName := to.Ptr(fmt.Sprintf("TableName eq '%s'", name))
	equal("tables of that name", []string{name}, tableNames(s, byName))

	must(s.service.DeleteTable(ctx, name, nil))
	equal("tables of that name", []string{}, tableNames(s, byName))
	_, err = s.service.DeleteTable(ctx, name, nil)
	refused(err, http.StatusNotFound, aztables.ResourceNotFound)
}

func tableNames(s *session, filter *string) []string {
	names := []string{}
	for pager := s.service.NewListTablesPager(&aztables.ListTablesOptions{Filter: filter}); pager.More(); {
		for _, table := range must(pager.NextPage(ctx)).Tables {
			names = append(names, *table.Name)
		}
	}
	return names
}

func types(s *session) {
	table := s.newTable("types")
	values := properties{
		"Binary":   aztables.EDMBinary{0, 1, 254, 255},
		"Boolean":  true,
		"DateTime": aztables.EDMDateTime(time.Date(2024, 2, 29, 23, 59, 59, 123456700, time.UTC)),
		"Double":   2.5,
		"Guid":     aztables.EDMGUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
		"Int32":    int32(-7),
		"Int64":    aztables.EDMInt64(9007199254740993),
		"String":   "Ærøskøbing 🎼",
	}
	must(table.AddEntity(ctx, entity("p", "r", values), nil))
	equal("entity", values, get(table, "p", "r").Properties)
	equal("entities of the query", values, query(table, nil)[0].Properties)
}

func insertGet(s *session) {
	table := s.newTable("insertGet")
	before := time.Now().Add(-time.Minute)
	added := must(table.AddEntity(ctx, entity("p", "r", properties{"Age": int32(36)}), nil))
	answer := must(table.GetEntity(ctx, "p", "r", nil))
	found := decode(answer.Value)
	equal("ETag", added.ETag, answer.ETag)
	equal("ETag in the entity", string(added.ETag), found.ETag)
	equal("properties", properties{"Age": int32(36)}, found.Properties)
	if stamp := time.Time(found.Timestamp); stamp.Before(before) || stamp.After(time.Now().Add(time.Minute)) {
		panic(fmt.Errorf("the timestamp is %v", stamp))
	}
	_, err := table.AddEntity(ctx, entity("p", "r", nil), nil)
	refused(err, http.StatusConflict, aztables.EntityAlreadyExists)
	_, err = table.GetEntity(ctx, "p", "absent", nil)
	refused(err, http.StatusNotFound, aztables.ResourceNotFound)
}

func merge(s *session) {
	table := s.newTable("merge")
	options := &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge}
	must(table.AddEntity(ctx, entity("p", "r", properties{"A": int32(1), "B": int32(2)}), nil))
	merged := must(table.UpdateEntity(ctx, entity("p", "r", properties{"B": "two", "C": true}), options))
	found := get(table, "p", "r")
	equal("properties", properties{"A": int32(1), "B": "two", "C": true}, found.Properties)
	equal("ETag", string(merged.ETag), found.ETag)
	_, err := table.UpdateEntity(ctx, entity("p", "absent", nil), options)
	refused(err, http.StatusNotFound, aztables.ResourceNotFound)
}

func replace(s *session) {
	table := s.newTable("replace")
	options := &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace}
	must(table.AddEntity(ctx, entity("p", "r", properties{"A": int32(1), "B": int32(2)}), nil))
	replaced := must(table.UpdateEntity(ctx, entity("p", "r", properties{"B": "two"}), options))
	found := get(table, "p", "r")
	equal("properties", properties{"B": "two"}, found.Properties)
	equal("ETag", string(replaced.ETag), found.ETag)
	_, err := table.UpdateEntity(ctx, entity("p", "absent", nil), options)
	refused(err, http.StatusNotFound, aztables.ResourceNotFound)
}

func upsertMerge(s *session) {
	table := s.newTable("upsertMerge")
	options := &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeMerge}
	must(table.UpsertEntity(ctx, entity("p", "r", properties{"A": int32(1)}), options))
	equal("inserted", properties{"A": int32(1)}, get(table, "p", "r").Properties)
	must(table.UpsertEntity(ctx, entity("p", "r", properties{"B": int32(2)}), options))
	equal("merged", properties{"A": int32(1), "B": int32(2)}, get(table, "p", "r").Properties)
}

func upsertReplace(s *session) {
	table := s.newTable("upsertReplace")
	options := &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}
	must(table.UpsertEntity(ctx, entity("p", "r", properties{"A": int32(1)}), options))
	equal("inserted", properties{"A": int32(1)}, get(table, "p", "r").Properties)
	must(table.UpsertEntity(ctx, entity("p", "r", properties{"B": int32(2)}), options))
	equal("replaced", properties{"B": int32(2)}, get(table, "p", "r").Properties)
}

func deleteEntity(s *session) {
	table := s.newTable("delete")
	must(table.AddEntity(ctx, entity("p", "r", nil), nil))
	must(table.DeleteEntity(ctx, "p", "r", nil))
	_, err := table.GetEntity(ctx, "p", "r", nil)
	refused(err, http.StatusNotFound, aztables.ResourceNotFound)
	_, err = table.DeleteEntity(ctx, "p", "r", nil)
	refused(err, http.StatusNotFound, aztables.ResourceNotFound)
}

func etags(s *session) {
	table := s.newTable("etags")
	update := func(value int32, tag azcore.ETag) (aztables.UpdateEntityResponse, error) {
		return table.UpdateEntity(ctx, entity("p", "r", properties{"A": value}),
			&aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace, IfMatch: &tag})
	}
	first := must(table.AddEntity(ctx, entity("p", "r", properties{"A": int32(1)}), nil)).ETag
	second := must(update(2, first)).ETag
	if first == second {
		panic(errors.New("the ETag did not change with the entity"))
	}
	_, err := update(3, first)
	refused(err, http.StatusPreconditionFailed, aztables.UpdateConditionNotSatisfied)
	equal("properties", properties{"A": int32(2)}, get(table, "p", "r").Properties)
	third := must(update(4, azcore.ETagAny)).ETag

	_, err = table.DeleteEntity(ctx, "p", "r", &aztables.DeleteEntityOptions{IfMatch: &second})
	refused(err, http.StatusPreconditionFailed, aztables.UpdateConditionNotSatisfied)
	must(table.DeleteEntity(ctx, "p", "r", &aztables.DeleteEntityOptions{IfMatch: &third}))
}

func selectProperties(s *session) {
	table := s.newTable("select")
	must(table.AddEntity(ctx, entity("p", "r", properties{"A": int32(1), "B": int32(2), "C": int32(3)}), nil))
	found := query(table, &aztables.ListEntitiesOptions{Select: to.Ptr("RowKey,A,C")})
	equal("number of entities", 1, len(found))
	equal("PartitionKey", "", found[0].PartitionKey)
	equal("RowKey", "r", found[0].RowKey)
	equal("properties", properties{"A": int32(1), "C": int32(3)}, found[0].Properties)
}

// aztables has no helper for filters: they are written out, and quotes doubled, by its user.
func filters(s *session) {
	table := s.newTable("filters")
	must(table.AddEntity(ctx, entity("p", "1", properties{
		"Binary":   aztables.EDMBinary{0xca, 0xfe},
		"Boolean":  true,
		"DateTime": aztables.EDMDateTime(time.Date(2024, 2, 29, 12, 0, 0, 100, time.UTC)),
		"Double":   2.5,
		"Guid":     aztables.EDMGUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
		"Int32":    int32(36),
		"Int64":    aztables.EDMInt64(9007199254740993),
		"String":   "it's “quoted” & more",
	}), nil))
	must(table.AddEntity(ctx, entity("p", "2", properties{
		"Binary":   aztables.EDMBinary{0xca, 0xff},
		"Boolean":  false,
		"DateTime": aztables.EDMDateTime(time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)),
		"Double":   -2.5,
		"Guid":     aztables.EDMGUID("00000000-0000-0000-0000-000000000000"),
		"Int32":    int32(37),
		"Int64":    aztables.EDMInt64(9007199254740992),
		"String":   "its",
	}), nil))
	for filter, want := range map[string][]string{
		"PartitionKey eq 'p' and RowKey ge '2'":                      {"2"},
		"Binary eq X'cafe'":                                          {"1"},
		"Boolean eq true":                                            {"1"},
		"DateTime gt datetime'2024-02-29T12:00:00Z'":                 {"1"},
		"Double lt 0.0":                                              {"2"},
		"Guid eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'":         {"1"},
		"Int32 le 36":                                                {"1"},
		"Int64 eq 9007199254740993L":                                 {"1"},
		"String eq '" + quoted("it's “quoted” & more") + "'":         {"1"},
		"not (String eq 'its') and (Boolean eq false or Int32 ne 0)": {"1"},
		"Int32 gt 0":                                                 {"1", "2"},
		"Absent eq 'x'":                                              {},
		"RowKey eq ''''":                                             {},
	} {
		equal("rows where "+filter, want, rowsWhere(table, filter))
	}
}

func quoted(text string) string {
	return strings.ReplaceAll(text, "'", "''")
}

func paging(s *session) {
	table := s.newTable("paging")
	actions := make([]aztables.TransactionAction, 25)
	for i := range actions {
		actions[i] = action(aztables.TransactionTypeAdd, fmt.Sprintf("%02d", i), nil)
	}
	must(table.SubmitTransaction(ctx, actions, nil))

	var sizes []int
	var rows []string
	for pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Top: to.Ptr(int32(10))}); pager.More(); {
		page := must(pager.NextPage(ctx)).Entities
		sizes = append(sizes, len(page))
		for _, text := range page {
			rows = append(rows, decode(text).RowKey)
		}
	}
	equal("sizes of the pages", []int{10, 10, 5}, sizes)
	equal("number of rows", 25, len(rows))
	equal("last row", "24", rows[24])
	equal("order", true, slices.IsSorted(rows))
	equal("rows of an empty result", []string{}, rowsWhere(table, "PartitionKey eq 'absent'"))
}

func group(s *session) {
	table := s.newTable("group")
	for _, row := range []string{"merge", "replace", "upsertMerge", "delete"} {
		must(table.AddEntity(ctx, entity("p", row, properties{"A": int32(1)}), nil))
	}
	b := properties{"B": int32(2)}
	must(table.SubmitTransaction(ctx, []aztables.TransactionAction{
		action(aztables.TransactionTypeAdd, "add", b),
		action(aztables.TransactionTypeUpdateMerge, "merge", b),
		action(aztables.TransactionTypeUpdateReplace, "replace", b),
		action(aztables.TransactionTypeInsertMerge, "upsertMerge", b),
		action(aztables.TransactionTypeInsertReplace, "upsertReplace", b),
		action(aztables.TransactionTypeDelete, "delete", nil),
	}, nil))
	found := map[string]properties{}
	for _, entity := range query(table, nil) {
		found[entity.RowKey] = entity.Properties
	}
	ab := properties{"A": int32(1), "B": int32(2)}
	equal("entities", map[string]properties{
		"add": b, "merge": ab, "replace": b, "upsertMerge": ab, "upsertReplace": b,
	}, found)
}

func action(kind aztables.TransactionType, row string, values properties) aztables.TransactionAction {
	return aztables.TransactionAction{ActionType: kind, Entity: entity("p", row, values)}
}

func groupFailures(s *session) {
	s.gap = "the code and the place of the failed action are only in the text of the error"
	table := s.newTable("groupFailures")
	must(table.AddEntity(ctx, entity("p", "there", nil), nil))
	add := func(row string) aztables.TransactionAction { return action(aztables.TransactionTypeAdd, row, nil) }
	submit := func(actions ...aztables.TransactionAction) error {
		_, err := table.SubmitTransaction(ctx, actions, nil)
		return err
	}

	groupRefused(submit(add("new"), add("there")), 1, aztables.EntityAlreadyExists)

	ifThere := action(aztables.TransactionTypeUpdateMerge, "absent", nil)
	ifThere.IfMatch = to.Ptr(azcore.ETagAny)
	groupRefused(submit(add("new"), add("newer"), ifThere), 2, aztables.ResourceNotFound)

	stale := action(aztables.TransactionTypeUpdateReplace, "there", nil)
	stale.IfMatch = to.Ptr(staleETag)
	groupRefused(submit(stale, add("new")), 0, aztables.UpdateConditionNotSatisfied)

	groupRefused(submit(add("new"), add("new")), 1, aztables.InvalidDuplicateRow)

	elsewhere := aztables.TransactionAction{
		ActionType: aztables.TransactionTypeAdd,
		Entity:     entity("other", "new", nil),
	}
	groupRefused(submit(add("new"), elsewhere), 1, "CommandsInBatchActOnDifferentPartitions")

	tooMany := make([]aztables.TransactionAction, 101)
	for i := range tooMany {
		tooMany[i] = add(fmt.Sprint(i))
	}
	groupRefused(submit(tooMany...), 99, aztables.InvalidInput)

	equal("rows after the failures", []string{"there"}, rowKeys(query(table, nil)))
}

// staleETag is the tag of an entity of the past.
const staleETag = azcore.ETag(`W/"datetime'2020-01-01T00%3A00%3A00.0000000Z'"`)

func accessPolicies(s *session) {
	table := s.newTable("policies")
	equal("policies of a new table", 0, len(must(table.GetAccessPolicy(ctx, nil)).SignedIdentifiers))
	start := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	policies := []*aztables.SignedIdentifier{
		{ID: to.Ptr("readers"), AccessPolicy: &aztables.AccessPolicy{
			Start: to.Ptr(start), Expiry: to.Ptr(start.AddDate(10, 0, 0)), Permission: to.Ptr("r"),
		}},
		{ID: to.Ptr("writers"), AccessPolicy: &aztables.AccessPolicy{
			Start: to.Ptr(start), Expiry: to.Ptr(start.AddDate(20, 0, 0)), Permission: to.Ptr("raud"),
		}},
	}
	must(table.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{TableACL: policies}))
	found := must(table.GetAccessPolicy(ctx, nil)).SignedIdentifiers
	equal("number of policies", len(policies), len(found))
	for i, policy := range policies {
		equal("id", *policy.ID, *found[i].ID)
		equal("start", *policy.AccessPolicy.Start, *found[i].AccessPolicy.Start)
		equal("expiry", *policy.AccessPolicy.Expiry, *found[i].AccessPolicy.Expiry)
		equal("permission", *policy.AccessPolicy.Permission, *found[i].AccessPolicy.Permission)
	}
	must(table.SetAccessPolicy(ctx, nil))
	equal("policies that are left", 0, len(must(table.GetAccessPolicy(ctx, nil)).SignedIdentifiers))
}

func policySas(s *session) {
	table := s.newTable("policySas")
	must(table.AddEntity(ctx, entity("p", "r", properties{"A": int32(1)}), nil))
	must(table.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{TableACL: []*aztables.SignedIdentifier{
		{ID: to.Ptr("readers"), AccessPolicy: &aztables.AccessPolicy{
			Start:      to.Ptr(hoursFromNow(-1)),
			Expiry:     to.Ptr(hoursFromNow(1)),
			Permission: to.Ptr("r"),
		}},
	}}))
	reader := signedClient(s, "policySas", aztables.SASSignatureValues{Identifier: "readers"})
	equal("properties", properties{"A": int32(1)}, get(reader, "p", "r").Properties)
	_, err := reader.DeleteEntity(ctx, "p", "r", nil)
	refused(err, http.StatusForbidden, "AuthorizationPermissionMismatch")
	must(table.SetAccessPolicy(ctx, nil))
	_, err = reader.GetEntity(ctx, "p", "r", nil)
	refused(err, http.StatusForbidden, "AuthenticationFailed")
}

func tableSas(s *session) {
	s.gap = "no range of keys: Sign covers its ends but leaves them out of the address, so it cannot be verified"
	table := s.newTable("tableSas")
	must(table.AddEntity(ctx, entity("p", "r", properties{"A": int32(1)}), nil))
	reader := signedClient(s, "tableSas", aztables.SASSignatureValues{
		Permissions: aztables.SASPermissions{Read: true}.String(),
		StartTime:   hoursFromNow(-1),
		ExpiryTime:  hoursFromNow(1),
		Protocol:    aztables.SASProtocolHTTPSandHTTP,
	})
	equal("properties", properties{"A": int32(1)}, get(reader, "p", "r").Properties)
	_, err := reader.AddEntity(ctx, entity("p", "new", nil), nil)
	refused(err, http.StatusForbidden, "AuthorizationPermissionMismatch")
	expired := signedClient(s, "tableSas", aztables.SASSignatureValues{
		Permissions: aztables.SASPermissions{Read: true}.String(),
		ExpiryTime:  hoursFromNow(-1),
	})
	_, err = expired.GetEntity(ctx, "p", "r", nil)
	refused(err, http.StatusForbidden, "AuthenticationFailed")
}

// hoursFromNow is a whole second: the service refuses the nine digits of time.Now in a policy.
func hoursFromNow(hours int) time.Time {
	return time.Now().UTC().Add(time.Duration(hours) * time.Hour).Truncate(time.Second)
}

func signedClient(s *session, table string, values aztables.SASSignatureValues) *aztables.Client {
	values.TableName = s.prefix + table
	query := must(values.Sign(s.credential))
	return must(aztables.NewClientWithNoCredential(s.url+"/"+values.TableName+"?"+query, nil))
}

func serviceProperties(s *session) {
	before := must(s.service.GetProperties(ctx, nil)).ServiceProperties
	keep := &aztables.RetentionPolicy{Enabled: to.Ptr(true), Days: to.Ptr(int32(5))}
	drop := &aztables.RetentionPolicy{Enabled: to.Ptr(false)}
	wanted := aztables.ServiceProperties{
		Logging: &aztables.Logging{
			Version: to.Ptr("1.0"), Read: to.Ptr(true), Write: to.Ptr(false), Delete: to.Ptr(true), RetentionPolicy: keep,
		},
		HourMetrics: &aztables.Metrics{
			Version: to.Ptr("1.0"), Enabled: to.Ptr(true), IncludeAPIs: to.Ptr(true), RetentionPolicy: keep,
		},
		MinuteMetrics: &aztables.Metrics{Version: to.Ptr("1.0"), Enabled: to.Ptr(false), RetentionPolicy: drop},
	}
	must(s.service.SetProperties(ctx, wanted, nil))
	equalJSON("properties", wanted, must(s.service.GetProperties(ctx, nil)).ServiceProperties)
	must(s.service.SetProperties(ctx, before, nil))
	equalJSON("restored properties", before, must(s.service.GetProperties(ctx, nil)).ServiceProperties)
}

// equalJSON compares what pointers point to.
func equalJSON[T any](what string, want, got T) {
	equal(what, string(must(json.Marshal(want))), string(must(json.Marshal(got))))
}

func cors(s *session) {
	rules := []*aztables.CorsRule{{
		AllowedOrigins:  to.Ptr("https://example.org"),
		AllowedMethods:  to.Ptr("GET,PUT"),
		AllowedHeaders:  to.Ptr("x-ms-*"),
		ExposedHeaders:  to.Ptr("x-ms-request-id"),
		MaxAgeInSeconds: to.Ptr(int32(60)),
	}}
	must(s.service.SetProperties(ctx, aztables.ServiceProperties{Cors: rules}, nil))
	equalJSON("rules", rules, must(s.service.GetProperties(ctx, nil)).Cors)

	allowed := preflight(s, "https://example.org")
	equal("status of the preflight", http.StatusOK, allowed.StatusCode)
	equal("allowed origin", "https://example.org", allowed.Header.Get("Access-Control-Allow-Origin"))
	equal("seconds", "60", allowed.Header.Get("Access-Control-Max-Age"))
	equal("status for a stranger", http.StatusForbidden, preflight(s, "https://example.com").StatusCode)
}

func preflight(s *session, origin string) *http.Response {
	request := must(http.NewRequestWithContext(ctx, http.MethodOptions, s.url+"/people", nil))
	request.Header.Set("Origin", origin)
	request.Header.Set("Access-Control-Request-Method", "PUT")
	request.Header.Set("Access-Control-Request-Headers", "x-ms-version")
	answer := must(http.DefaultClient.Do(request))
	check(answer.Body.Close())
	return answer
}

// Statistics are asked of the secondary address, which the user of aztables forms.
func statistics(s *session) {
	replication := must(s.serviceAt(s.url+"-secondary", nil).GetStatistics(ctx, nil)).GeoReplication
	equal("status", aztables.GeoReplicationStatusLive, *replication.Status)
	if age := time.Since(*replication.LastSyncTime); age > time.Minute || age < -time.Minute {
		panic(fmt.Errorf("the last synchronisation is %v away", age))
	}
}

func keys(s *session) {
	table := s.newTable("keys")
	for _, key := range []string{
		"it's", "''", "a b", "100%", "%41", "a&b", "a+b", "a=b", "a;b", "a@b", "~", "(a)", "a,b", "$", ":", "漢字", "🎼",
	} {
		keysWith(table, key, key)
	}
	keysWith(table, "p", "")

	s.gap = "EDMEntity doubles the quotes of keys, which a map does not; an empty PartitionKey can only be inserted and queried"
	must(table.AddEntity(ctx, entityOfMap("", "r", 1), nil))
	equal("rows of the empty partition", []string{"r"}, rowsWhere(table, "PartitionKey eq ''"))
	_, err := table.GetEntity(ctx, "", "r", nil)
	equal("refusal by the client", "parameter partitionKey cannot be empty", fmt.Sprint(err))
}

func keysWith(table *aztables.Client, partitionKey, rowKey string) {
	must(table.AddEntity(ctx, entityOfMap(partitionKey, rowKey, 1), nil))
	found := get(table, partitionKey, rowKey)
	equal("PartitionKey", partitionKey, found.PartitionKey)
	equal("RowKey", rowKey, found.RowKey)
	filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey eq '%s'", quoted(partitionKey), quoted(rowKey))
	equal("rows", []string{rowKey}, rowsWhere(table, filter))
	must(table.UpdateEntity(ctx, entityOfMap(partitionKey, rowKey, 2), nil))
	equal("A", any(int32(2)), get(table, partitionKey, rowKey).Properties["A"])
	must(table.DeleteEntity(ctx, partitionKey, rowKey, nil))
	_, err := table.GetEntity(ctx, partitionKey, rowKey, nil)
	refused(err, http.StatusNotFound, aztables.ResourceNotFound)
}

// EDMEntity doubles the quotes of keys also in bodies, where they mean two quotes; a map is left as it is.
func entityOfMap(partitionKey, rowKey string, a int) []byte {
	return must(json.Marshal(properties{"PartitionKey": partitionKey, "RowKey": rowKey, "A": a}))
}

func serviceErrors(s *session) {
	table := s.newTable("errors")
	_, err := s.service.NewClient(s.prefix+"absent").AddEntity(ctx, entity("p", "r", nil), nil)
	refused(err, http.StatusNotFound, aztables.TableNotFound)
	_, err = s.service.NewClient(s.prefix+"absent").GetEntity(ctx, "p", "r", nil)
	refused(err, http.StatusNotFound, aztables.TableNotFound)
	_, err = table.CreateTable(ctx, nil)
	refused(err, http.StatusConflict, aztables.TableAlreadyExists)
	_, err = s.service.CreateTable(ctx, "not-a-name", nil)
	refused(err, http.StatusBadRequest, "InvalidResourceName")
	must(table.AddEntity(ctx, entity("p", "r", nil), nil))
	_, err = table.DeleteEntity(ctx, "p", "r", &aztables.DeleteEntityOptions{IfMatch: to.Ptr(staleETag)})
	refused(err, http.StatusPreconditionFailed, aztables.UpdateConditionNotSatisfied)

	text := strings.Repeat("x", 32768)
	_, err = table.AddEntity(ctx, entity("p", "long", properties{"A": text + "x"}), nil)
	refused(err, http.StatusBadRequest, aztables.PropertyValueTooLarge)
	_, err = table.AddEntity(ctx, entity("p", "binary", properties{"A": aztables.EDMBinary(make([]byte, 65537))}), nil)
	refused(err, http.StatusBadRequest, aztables.PropertyValueTooLarge)
	many := properties{}
	for i := range 17 {
		many[fmt.Sprintf("A%d", i)] = text
	}
	_, err = table.AddEntity(ctx, entity("p", "large", many), nil)
	refused(err, http.StatusBadRequest, aztables.EntityTooLarge)
	huge := base64.StdEncoding.EncodeToString(make([]byte, 4<<20))
	_, err = table.AddEntity(ctx, entity("p", "huge", properties{"A": huge}), nil)
	refused(err, http.StatusRequestEntityTooLarge, "RequestBodyTooLarge")
	_, err = table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("A eq")}).NextPage(ctx)
	refused(err, http.StatusBadRequest, aztables.InvalidInput)
}

func retries(s *session) {
	s.newTable("retries")
	attempts := &attemptCounter{}
	flaky := s.serviceAt(s.flakyURL, &azcore.ClientOptions{
		Retry:            policy.RetryOptions{MaxRetries: 3, RetryDelay: 10 * time.Millisecond, MaxRetryDelay: 50 * time.Millisecond},
		PerRetryPolicies: []policy.Policy{attempts},
	}).NewClient(s.prefix + "retries")
	must(flaky.AddEntity(ctx, entity("p", "r", properties{"A": int32(1)}), nil))
	equal("properties", properties{"A": int32(1)}, get(flaky, "p", "r").Properties)
	equal("rows", []string{"r"}, rowKeys(query(flaky, nil)))
	equal("attempts for three calls", 6, attempts.count)
}

type attemptCounter struct{ count int }

func (c *attemptCounter) Do(request *policy.Request) (*http.Response, error) {
	c.count++
	return request.Next()
}
